/** What is wrong with a name, as upstream words it; empty when nothing is. `isPrefix` is true for generateName. */
export type NameRule = (name: string, isPrefix: boolean) => string[];

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

const labelPattern = new RegExp(`^${LABEL}$`);
const label1035Pattern = new RegExp(`^${LABEL_1035}$`);
const qualifiedPattern = new RegExp(`^${QUALIFIED}$`);

/** The pattern of subdomains, one label at a time: as one expression it takes quadratic time on hostile names. */
const isSubdomain = (value: string): boolean => value.split('.').every((part) => labelPattern.test(part));

const encoder = new TextEncoder();

/** The length of a text in UTF-8. */
export function byteLength(text: string): number {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > 0x7f) return encoder.encode(text).length;
  }
  return text.length;
}

/** Upstream says `characters` for names of objects and `bytes` for labels, and means bytes both times. */
const maxLength = (length: number, unit: 'bytes' | 'characters' = 'bytes'): string =>
  `must be no more than ${length} ${unit}`;

function expected(text: string, pattern: string, ...examples: string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return `${text} (e.g. ${shown}regex used for validation is '${pattern}')`;
}

export function dnsSubdomainProblems(value: string, unit: 'bytes' | 'characters' = 'characters'): string[] {
  const problems = byteLength(value) > 253 ? [maxLength(253, unit)] : [];
  if (!isSubdomain(value)) {
    problems.push(
      expected(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        SUBDOMAIN,
        'example.com',
      ),
    );
  }
  return problems;
}

export function dnsLabelProblems(value: string): string[] {
  const problems = byteLength(value) > 63 ? [maxLength(63, 'characters')] : [];
  if (labelPattern.test(value)) return problems;
  if (isSubdomain(value)) return [...problems, 'must not contain dots'];
  problems.push(
    expected(
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
      LABEL,
      'my-name',
      '123-abc',
    ),
  );
  return problems;
}

export function dns1035LabelProblems(value: string): string[] {
  const problems = byteLength(value) > 63 ? [maxLength(63, 'characters')] : [];
  if (!label1035Pattern.test(value)) {
    problems.push(
      expected(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        LABEL_1035,
        'my-name',
        'abc-123',
      ),
    );
  }
  return problems;
}

const QUALIFIED_TEXT =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const qualifiedText = (): string => expected(QUALIFIED_TEXT, QUALIFIED, 'MyName', 'my.name', '123-abc');

/** Label keys, annotation keys, finalizers: `[prefix/]name`. */
export function qualifiedNameProblems(value: string): string[] {
  const parts = value.split('/');
  if (parts.length > 2) {
    const shape = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
    return [`a valid label key ${qualifiedText()} ${shape}`];
  }
  const name = parts.at(-1) ?? '';
  const problems = parts.length === 2 ? prefixProblems(parts[0] ?? '') : [];
  if (name === '') problems.push('name part must be non-empty');
  else if (byteLength(name) > 63) problems.push(`name part ${maxLength(63)}`);
  if (!qualifiedPattern.test(name)) problems.push(`name part ${qualifiedText()}`);
  return problems;
}

const prefixProblems = (prefix: string): string[] =>
  prefix === ''
    ? ['prefix part must be non-empty']
    : dnsSubdomainProblems(prefix, 'bytes').map((problem) => `prefix part ${problem}`);

export function labelValueProblems(value: string): string[] {
  const problems = byteLength(value) > 63 ? [maxLength(63)] : [];
  if (value !== '' && !qualifiedPattern.test(value)) {
    problems.push(
      expected(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        `(${QUALIFIED})?`,
        'MyValue',
        'my_value',
        '12345',
      ),
    );
  }
  return problems;
}

/** What a name needs so that it can stand in a URL. */
export function pathSegmentProblems(name: string, isPrefix = false): string[] {
  if (!isPrefix && (name === '.' || name === '..')) return [`may not be '${name}'`];
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
}

/** A generateName may end in a dash; upstream checks it with its last two characters replaced. */
const unfinished = (name: string, isPrefix: boolean): string =>
  isPrefix && name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;

/** The rules names of objects follow, by kind (M3). */
export const nameRules = {
  dnsSubdomain: (name, isPrefix) => dnsSubdomainProblems(unfinished(name, isPrefix)),
  dnsLabel: (name, isPrefix) => dnsLabelProblems(unfinished(name, isPrefix)),
  dns1035Label: (name, isPrefix) => dns1035LabelProblems(unfinished(name, isPrefix)),
  pathSegment: pathSegmentProblems,
} satisfies Record<string, NameRule>;

const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const LONGEST_BASE = 58;

/** A name from a generateName: cut to leave room, then five random characters. `random` is uniform in [0, 1). */
export function generateName(base: string, random: () => number): string {
  let name = base.slice(0, LONGEST_BASE);
  for (let count = 0; count < 5; count++) name += SUFFIX_LETTERS[Math.floor(random() * SUFFIX_LETTERS.length)];
  return name;
}
