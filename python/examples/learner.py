"""A mind that learns only from what it is shown: from any features, a gradient-boosted forest of scikit-learn predicts the
first domain that is a value, at its horizon. Without scikit-learn it makes no claims.

    bardo golem new ada --data eth --mind python/examples/learner.py
"""

from collections import deque

from bardo import Mind, Word

try:
    from sklearn.ensemble import HistGradientBoostingRegressor
except ImportError:
    HistGradientBoostingRegressor = None

EVERY, ENOUGH, KEPT = 500, 1_000, 8_000


class Learner(Mind):
    def begin(self):
        self.about = next(d for d in self.world["domains"] if d["kind"] == "value")
        self.seen, self.model = deque(maxlen=KEPT), None

    def look(self, look):
        name, ahead = self.about["name"], max(1, self.about["horizon"])
        for bar in look.bars:
            self.seen.append((list(bar.features.values()), bar.values[name]))
        if HistGradientBoostingRegressor and look.golem.tick % EVERY == 0 and len(self.seen) > ENOUGH:
            rows = list(self.seen)
            went = [after[1] / before[1] if before[1] else 1.0 for before, after in zip(rows, rows[ahead:])]
            self.model = HistGradientBoostingRegressor(max_iter=60, loss="absolute_error")
            self.model.fit([row for row, _ in rows[: len(went)]], went)
        if self.model is None:
            return None
        return Word(claims={name: look.last.values[name] * float(self.model.predict([self.seen[-1][0]])[0])})


if __name__ == "__main__":
    Learner().run()
