// The figure of a golem, drawn from its state alone: vitality gives its size, its phase the ears, its mood the face, its age
// feet, crest and wrinkles. The terminal draws it by the same rules (crates/shell/src/view/creature.rs), and both are tested
// against the drawings in crates/shell/src/view/creatures.txt.

export const SIDE = 12;

// Of each mood: mouth (1 smiles, -1 is turned down, 0 is straight), whether the eyes are wide, whether it bristles.
const FACES = {
  joy: [1, true, false],
  trust: [1, true, false],
  serenity: [1, false, false],
  acceptance: [1, false, false],
  anger: [-1, true, true],
  fear: [-1, true, true],
  disgust: [-1, false, false],
  sadness: [-1, false, false],
};

// Of each phase: pixels of an ear, each rows above the top of the head, and columns beyond its edge.
const EARS = {
  thriving: [[1, -2], [2, -2]],
  stable: [[1, -2]],
  conservation: [[1, -1]],
  declining: [[-1, 0], [-2, 0]],
};

const STONE = [0, 0x1f8, 0x3fc, 0x39c, 0x30c, 0x39c, 0x39c, 0x39c, 0x3fc, 0x3fc, 0x3fc, 0xfff];
const MOSS = [[10, 3], [9, 8], [8, 2]];
const Z = [0x6, 0x2, 0x3];

// Twelve rows of twelve pixels, each a number: the bit of the highest value is the leftmost pixel.
export function creature({ state, phase, vitality, mood, age, lifespan }) {
  const quarter = Math.min(3, Math.trunc((4 * (age ?? 0)) / Math.max(1, lifespan ?? 0)));
  if (state === "dead") return stone(quarter);
  const asleep = state === "dreaming";
  const level = Math.min(7, Math.max(0, Math.trunc(8 * vitality)));
  const [mouth, wide, bristles] = FACES[mood] ?? [0, false, false];
  const girth = 3 + Math.trunc((3 * level) / 8);
  const height = asleep ? 6 : 6 + Math.trunc(level / 3);
  const [top, bottom] = [11 - height, 10];
  const rows = new Array(SIDE).fill(0);
  // A pixel so far from the middle, on both sides.
  const set = (row, from) => (rows[row] |= (1 << (6 + from)) | (1 << (5 - from)));
  const clear = (row, from) => (rows[row] &= ~((1 << (6 + from)) | (1 << (5 - from))));
  for (let row = top; row <= bottom; row += 1) {
    const round = row === top || row === bottom ? 1 : 0;
    for (let from = 0; from < girth - round; from += 1) set(row, from);
    if (bristles && !asleep && !round && (row - top) % 2 === 0) set(row, girth);
  }
  if (!asleep) for (const [above, beyond] of EARS[phase] ?? []) set(top - above, girth + beyond);
  if (quarter >= 1) set(11, 1);
  if (quarter >= 2) set(top - 1, 0);
  // Of the last there is not much left below.
  if (phase === "terminal") for (let from = bottom % 2; from < girth; from += 2) clear(bottom, from);
  const eyes = top + 1;
  clear(eyes + 1, 1);
  if (asleep) {
    clear(eyes + 1, 2);
    Z.forEach((bits, row) => (rows[row] |= bits));
    return rows;
  }
  if (wide) clear(eyes, 1);
  if (mouth === 0) clear(eyes + 3, 0);
  else if (mouth > 0) [[3, 1], [4, 0]].forEach(([row, from]) => clear(eyes + row, from));
  else [[3, 0], [4, 1]].forEach(([row, from]) => clear(eyes + row, from));
  if (quarter >= 3) clear(eyes + 2, girth - 1);
  return rows;
}

function stone(quarter) {
  const rows = [...STONE];
  for (const [row, at] of MOSS.slice(0, quarter)) rows[row] &= ~(1 << at);
  return rows;
}

// The same as text, a letter for each pixel.
export function text(rows) {
  return rows.map((row) => Array.from({ length: SIDE }, (_, at) => ((row >> (SIDE - 1 - at)) & 1 ? "#" : ".")).join(""));
}

// The same as a path: one stroke for each run of pixels.
export function path(rows) {
  let d = "";
  rows.forEach((row, y) => {
    for (let x = 0; x < SIDE; x += 1) {
      const from = x;
      while (x < SIDE && (row >> (SIDE - 1 - x)) & 1) x += 1;
      if (x > from) d += `M${from} ${y}h${x - from}v1h-${x - from}z`;
    }
  });
  return d;
}
