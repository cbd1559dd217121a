import { goQuote } from '../../object/validation/go-text.ts';
import { OpaqueValue } from './equality.ts';
import { global, member, type Overload } from './function.ts';
import { bySize } from './library-operators.ts';
import { BOOL, INT, objectType, STRING } from './type.ts';
import { CelError } from './value.ts';

const NAME = 'kubernetes.Semver';

class Semver extends OpaqueValue {
  readonly typeName = NAME;
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly prerelease: readonly string[];
  constructor(numbers: readonly [bigint, bigint, bigint], prerelease: readonly string[]) {
    super();
    this.numbers = numbers;
    this.prerelease = prerelease;
  }

  equals(other: this): boolean {
    return compareSemver(this, other) === 0;
  }
}

const SEMVER = objectType<Semver>(NAME);

function compareSemver(a: Semver, b: Semver): number {
  for (const [index, number] of a.numbers.entries()) {
    const other = b.numbers[index] ?? 0n;
    if (number !== other) return number < other ? -1 : 1;
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0) {
    return Math.sign(b.prerelease.length - a.prerelease.length);
  }
  for (const [index, part] of a.prerelease.entries()) {
    const other = b.prerelease[index];
    if (other === undefined) return 1;
    const order = comparePart(part, other);
    if (order !== 0) return order;
  }
  return a.prerelease.length < b.prerelease.length ? -1 : 0;
}

/** Numbers sort before words. */
function comparePart(a: string, b: string): number {
  const [isNumberA, isNumberB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
  if (a === b) return 0;
  if (isNumberA) return BigInt(a) < BigInt(b) ? -1 : 1;
  return a < b ? -1 : 1;
}

function parseSemver(text: string): Semver {
  if (text === '') throw new CelError('Version string empty');
  const [major, minor, ...rest] = text.split('.');
  if (major === undefined || minor === undefined || rest.length === 0) {
    throw new CelError('No Major.Minor.Patch elements found');
  }
  const numbers = [parseNumber('major', major), parseNumber('minor', minor)] as const;
  let patch = rest.join('.');
  let build: string | undefined;
  let prerelease: string | undefined;
  [patch = '', build] = cut(patch, '+');
  [patch = '', prerelease] = cut(patch, '-');
  const last = parseNumber('patch', patch);
  const parts = prerelease === undefined ? [] : prerelease.split('.').map(checkPrerelease);
  if (build !== undefined) for (const part of build.split('.')) checkBuild(part);
  return new Semver([...numbers, last], parts);
}

function cut(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function parseNumber(name: string, text: string): bigint {
  const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
  if (!/^\d*$/.test(text)) throw new CelError(`Invalid character(s) found in ${name} number ${goQuote(text)}`);
  if (text.length > 1 && text.startsWith('0')) {
    throw new CelError(`${title} number must not contain leading zeroes ${goQuote(text)}`);
  }
  if (text === '') throw new CelError('strconv.ParseUint: parsing "": invalid syntax');
  return BigInt(text);
}

function checkPrerelease(part: string): string {
  if (part === '') throw new CelError('Prerelease is empty');
  if (!/^[0-9A-Za-z-]+$/.test(part)) {
    throw new CelError(`Invalid character(s) found in prerelease ${goQuote(part)}`);
  }
  if (/^0\d+$/.test(part)) {
    throw new CelError(`Numeric PreRelease version must not contain leading zeroes ${goQuote(part)}`);
  }
  return part;
}

function checkBuild(part: string): void {
  if (part === '') throw new CelError('Build meta data is empty');
  if (!/^[0-9A-Za-z-]+$/.test(part)) {
    throw new CelError(`Invalid character(s) found in build meta data ${goQuote(part)}`);
  }
}

/** Takes a leading v, leading zeroes and missing minor or patch numbers. */
function normalized(text: string): string {
  const [first = '', second, ...others] = text.replace(/^v/, '').split('.');
  const given = [first, second, others.length === 0 ? undefined : others.join('.')];
  const parts = given.filter((part) => part !== undefined).map(withoutZeroes);
  if (parts.length < 3) {
    if (/[+-]/.test(parts.at(-1) ?? '')) {
      throw new CelError('short version cannot contain PreRelease/Build meta data');
    }
    while (parts.length < 3) parts.push('0');
  }
  return parts.join('.');
}

function withoutZeroes(part: string): string {
  if (part.length <= 1) return part;
  const stripped = part.replace(/^0+/, '');
  return /^\d/.test(stripped) ? stripped : `0${stripped}`;
}

const parse = (text: string, isLenient = false): Semver => parseSemver(isLenient ? normalized(text) : text);

function isSemver(text: string, isLenient = false): boolean {
  try {
    parse(text, isLenient);
    return true;
  } catch {
    return false;
  }
}

export const semvers: readonly Overload[] = [
  global('semver', [STRING], SEMVER, { call: (text) => parse(text), cost: bySize() }),
  global('semver', [STRING, BOOL], SEMVER, { call: parse, cost: bySize() }),
  global('isSemver', [STRING], BOOL, { call: (text) => isSemver(text), cost: bySize() }),
  global('isSemver', [STRING, BOOL], BOOL, { call: isSemver, cost: bySize() }),
  member('isGreaterThan', [SEMVER, SEMVER], BOOL, { call: (a, b) => compareSemver(a, b) > 0 }),
  member('isLessThan', [SEMVER, SEMVER], BOOL, { call: (a, b) => compareSemver(a, b) < 0 }),
  member('compareTo', [SEMVER, SEMVER], INT, { call: (a, b) => BigInt(compareSemver(a, b)) }),
  member('major', [SEMVER], INT, { call: ({ numbers }) => numbers[0] }),
  member('minor', [SEMVER], INT, { call: ({ numbers }) => numbers[1] }),
  member('patch', [SEMVER], INT, { call: ({ numbers }) => numbers[2] }),
];
