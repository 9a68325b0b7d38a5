"""A world of water by the litre, at a price that follows the tide."""
import math
from datetime import datetime, timedelta

from bardo import Action, Bar, Domain, Quote, World


class Tides(World):
    name = "tides"
    unit = "litre"
    bar = timedelta(minutes=10)
    domains = [Domain("level", horizon=6)]
    features = ["level"]
    instincts = [f"when level {than} expect level over 6" for than in ("> 2.7", "> 2", "< 2", "< 1.3")]
    actions = [Action("buy", "adds"), Action("sell", "reduces")]

    def start(self):
        return datetime(2025, 1, 1)

    def bars(self, since, now):
        step = 600_000
        for closed in range((since // step + 1) * step, now + 1, step):
            level = self.level(closed)
            yield Bar(closed, [level], [level], unit=level)

    def level(self, at):
        return 2 + math.sin(at / 44_712_000 * 2 * math.pi)

    def quote(self, order):
        cash = order.units * self.level(self.now)
        return Quote(cash=-cash if order.adds else cash, fee=0.001)


if __name__ == "__main__":
    Tides().run()
