"""A mind that knows one thing: within a day volatility returns towards its level over a quarter of a day, a week and a month
(a heterogeneous autoregression, as forecasters of volatility use it).

    bardo golem new ada --world replay --data eth --mind python/examples/volatility.py
"""

import math

from bardo import Mind, Word

#: Fitted to hours of four coins from 2020 to 2023: the share of the way to each level, and a factor on the result.
TOWARDS = {"vol_6": 0.13, "vol_168": 0.35, "vol_usual": 0.27}
FACTOR = 0.9


class Volatility(Mind):
    def look(self, look):
        now = look.last.features
        if min(now["vol_24"], *(now[name] for name in TOWARDS)) <= 0:
            return None
        way = sum(share * math.log(now[name] / now["vol_24"]) for name, share in TOWARDS.items())
        return Word(claims={"volatility": now["vol_24"] * FACTOR * math.exp(way)})


if __name__ == "__main__":
    Volatility().run()
