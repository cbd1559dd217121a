import { createHash } from 'node:crypto';

const HALF = 0xffffff;
const ROUNDS = 4;

/**
 * The twelve hexadecimal digits of the n-th identifier of a cloud: a permutation of the numbers below 2^48 that the seed
 * chooses (a Feistel network), so that none comes twice and the same seed gives the same ones.
 */
export function identifierDigits(seed: number, n: number): string {
  let [left, right] = [Math.floor(n / (HALF + 1)) & HALF, n % (HALF + 1)];
  for (let round = 0; round < ROUNDS; round++) [left, right] = [right, left ^ mixed(seed, round, right)];
  return `${hex(left)}${hex(right)}`;
}

const mixed = (seed: number, round: number, half: number): number =>
  createHash('sha256').update(`${seed} ${round} ${half}`).digest().readUIntBE(0, 3);

const hex = (half: number): string => half.toString(16).padStart(6, '0');
