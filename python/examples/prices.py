"""A CSV of times and prices as a world to live in on paper: python3 prices.py FILE, with columns time and price."""
import csv
import sys
from bisect import bisect_right
from datetime import timedelta

from bardo import Action, Bar, Domain, Quote, World


class Prices(World):
    name = "prices"
    bar = timedelta(hours=1)
    domains = [Domain("price", horizon=24), Domain("rise", kind="direction", horizon=24)]
    features = ["change"]
    instincts = ["when change > 0.01 expect rise over 24", "when change < -0.01 expect rise over 24"]
    actions = [Action("buy", "adds"), Action("sell", "reduces")]

    def begin(self):
        rows = list(csv.DictReader(open(sys.argv[1])))
        self.closes = [int(row["time"]) * 1_000 for row in rows]
        self.prices = [float(row["price"]) for row in rows]

    def start(self):
        return self.closes[0]

    def end(self):
        return self.closes[-1]

    def bars(self, since, now):
        for at in range(bisect_right(self.closes, since), bisect_right(self.closes, now)):
            price, before = self.prices[at], self.prices[max(at - 1, 0)]
            yield Bar(self.closes[at], [price, price], [price / before - 1], unit=price)

    def quote(self, order):
        at = bisect_right(self.closes, self.now) - 1
        if at < 0:
            return None
        cash = order.units * self.prices[at]
        return Quote(cash=-cash if order.adds else cash, fee=cash * 0.001)


if __name__ == "__main__":
    Prices().run()
