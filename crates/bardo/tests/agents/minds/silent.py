"""A mind that has nothing to say, and does not even read what it is shown: what is left is what asking costs."""
import sys

sys.stdin.readline()
sys.stdout.write('{"bardo": "mind", "version": 1}\n')
sys.stdout.flush()
for number, line in enumerate(sys.stdin, 1):
    if '"ask":"bye"' in line:
        break
    sys.stdout.write('{"id": %d}\n' % number)
    sys.stdout.flush()
