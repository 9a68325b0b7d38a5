"""A paper world on any exchange that ccxt knows: python3 exchange.py kraken ETH/USD 1h.

Bars are the exchange's own candles as they close; orders are filled on paper at the last close, plus a fee. Nothing is sent.
"""
import sys
import time
from datetime import timedelta

from bardo import Action, Away, Bar, Domain, Quote, World

FEE = 0.001


class Exchange(World):
    unit = "coin"
    domains = [Domain("direction", 0.6, "direction", 24), Domain("volume", 0.4, "value", 24)]
    features = ["change", "range"]
    instincts = ["when change > 0.01 expect direction over 24", "when range > 0.02 expect volume over 24"]
    actions = [Action("buy", "adds"), Action("sell", "reduces")]
    timing = "wall"

    def begin(self):
        import ccxt

        venue, self.market, self.frame = sys.argv[1:4]
        self.exchange = getattr(ccxt, venue)({"enableRateLimit": True})
        self.away = ccxt.NetworkError
        self.name = f"{venue} {self.market}"
        self.bar = timedelta(seconds=self.exchange.parse_timeframe(self.frame))
        self.step = round(self.bar.total_seconds() * 1_000)
        self.known = {}

    def start(self):
        return int(time.time() * 1_000) // self.step * self.step

    def bars(self, since, now):
        first = since // self.step * self.step
        if not all(at in self.known for at in range(first, now - self.step + 1, self.step)):
            try:
                for row in self.exchange.fetch_ohlcv(self.market, self.frame, since=first - self.step):
                    if row[0] + self.step <= now:
                        self.known.setdefault(row[0], row)
            except self.away as why:
                raise Away(str(why), again=30) from why
        for opened in sorted(at for at in self.known if since < at + self.step <= now):
            _, open_, high, low, close, volume = self.known[opened]
            yield Bar(opened + self.step, [close, volume], [close / open_ - 1, high / low - 1], unit=close)

    def quote(self, order):
        row = self.known.get(self.now - self.step)
        if row is None:
            return None
        cash = order.units * row[4]
        return Quote(cash=-cash if order.adds else cash, fee=cash * FEE)


if __name__ == "__main__":
    Exchange().run()
