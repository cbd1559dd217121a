// Without vowels and what looks alike: no word, no misreading. The alphabet of generateName.
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const HASH_LENGTH = 8;
const FNV_PRIME = 0x01000193;
/** The longest DNS label: Services and Pods need no more than that for their names. */
const LONGEST_NAME = 63;

/** Two hashes of 32 bits make half of the letters each; any two different numbers would do. */
const SEEDS = [0x811c9dc5, 0x3c6ef372];
const LETTERS_PER_SEED = HASH_LENGTH / SEEDS.length;

/**
 * A short text that stands for the given ones: the same for the same texts, and another one for others, but for an
 * accident in 2^38. No secret: whoever wants to can find two texts with the same one.
 */
export function nameHash(...texts: readonly string[]): string {
  // The lengths keep ('ab', 'c') and ('a', 'bc') apart.
  const input = texts.map((text) => `${text.length}:${text}`).join('');
  return SEEDS.map((seed) => letters(mixed(fnv1a(input, seed)))).join('');
}

/** FNV-1a over the bytes of the UTF-16 units. */
function fnv1a(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    hash = Math.imul(hash ^ (unit & 0xff), FNV_PRIME);
    hash = Math.imul(hash ^ (unit >>> 8), FNV_PRIME);
  }
  return hash;
}

/** Lets each bit of the input change all bits (the finish of MurmurHash3): FNV alone hardly stirs the last characters. */
function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return (twice ^ (twice >>> 16)) >>> 0;
}

function letters(hash: number): string {
  let text = '';
  for (let rest = hash; text.length < LETTERS_PER_SEED; rest = Math.floor(rest / LETTERS.length)) {
    text += LETTERS.charAt(rest % LETTERS.length);
  }
  return text;
}

/**
 * `<base>-<suffix>`, where that fits; else the base is cut and a hash of the whole stands for the rest, so that names
 * which differ only behind the cut stay different. Derived from nothing else: a crash finds the same name again.
 */
export function childName(base: string, suffix: string, longest = LONGEST_NAME): string {
  const name = suffix === '' ? base : `${base}-${suffix}`;
  if (name.length <= longest) return name;
  const hash = nameHash(base, suffix);
  const end = `-${hash}${suffix === '' ? '' : `-${suffix}`}`;
  if (end.length < longest) return `${cut(base, longest - end.length)}${end}`;
  return `${cut(name, longest - HASH_LENGTH - 1)}-${hash}`;
}

/** A name may not end in a dash or a dot before the dash that follows. */
const cut = (text: string, length: number): string => text.slice(0, length).replace(/[-.]+$/, '');
