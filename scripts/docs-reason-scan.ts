/** How a reason reaches people: as an error of one of three dispositions, in a condition or event, or in an answer. */
export type ReasonUse = 'user' | 'terminal' | 'retry' | 'condition' | 'event' | 'watch' | 'answer';

export interface FoundReason {
  readonly reason: string;
  readonly use: ReasonUse;
  /** Of the source file. */
  readonly path: string;
}

interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export interface ReasonScan {
  readonly found: readonly FoundReason[];
  /** Calls whose reason cannot be read from the source: they must be written otherwise. */
  readonly unreadable: readonly string[];
}

const USE_OF: Readonly<Record<string, ReasonUse>> = {
  userError: 'user',
  terminalError: 'terminal',
  retryError: 'retry',
};
const CALL = /\b(?<maker>userError|terminalError|retryError)\(\s*(?<first>[^,]+?)\s*,/g;
/** Some of upstream's are two words. */
const LITERAL = /^'(?<reason>[A-Z][\w ]*)'$/;
const CONSTANT = /\bconst (?<name>[A-Z][A-Z_]*) = '(?<reason>[A-Z]\w*)';/g;
/** A function that takes the reason first and makes the error: those who call it say the reason. */
const MAKER = /\b(?<name>\w+)(?: = )?\(reason: string,/g;
/** In the table of what clouds answer, the word before says what kind of error it makes. */
const TABLE = /\bdisposition: '(?<use>user|terminal|retry)',\s*reason: '(?<reason>[A-Z]\w*)'/g;
const FIELD = /(?<!\bdisposition: '\w+',\s*)\breason: (?:'(?<reason>[A-Z]\w*)'|(?<constant>[A-Z][A-Z_]+)\b)/g;
const FALLBACK = /\? reason : '(?<after>[A-Z]\w*)'|=== '' \? '(?<before>[A-Z]\w*)' : reason/g;
const SUPER = /\bsuper\('(?<use>user|terminal|retry)', '(?<reason>[A-Z]\w*)'/g;
/** A class of errors that takes the reason first: those who make one say it, in whatever file they are. */
const ERROR_CLASS =
  /\bclass (?<name>\w+) extends SlipwayError \{[^]*?\bsuper\('(?<use>user|terminal|retry)', reason,/g;
/** The reason of another error, or the code of an answer, is passed on: it is found where that one is made. */
const PASSED_ON = /^(?:\w+\.reason|code)$/;
/** What a condition says may be told by an event as well. */
const OF_CONDITION = 'reason';
/** The Agent providers say what is not so with these, the reason behind what it is about, if anything. */
const SAID =
  /\b(?:isUnmet|failed|waiting|wrong|problem|step)\(\s*(?:(?!\bcase\b)[\w.]+,\s*)?'(?<reason>[A-Z][a-zA-Z]+)'/g;
/** … and that something is so with this: the reason is the name of the condition. */
const MET = /\bisMet\(\s*(?<constant>[A-Z_]+)/g;
/** Keys of the table of what is waited for. */
const WAITED_FOR = /^ {2}(?<reason>WaitingFor[A-Z]\w*):/gm;
/** The reason for a value that a parser of several fields refuses. */
const REFUSED = /, '(?<reason>Invalid[A-Z]\w*)'\)/g;
/** One of two reasons. */
const EITHER = /\breason: [^,\n]*?\? '(?<before>[A-Z]\w*)' : (?:'(?<after>[A-Z]\w*)'|\w+\.)/g;
/** Also those whose reason is computed, which must not be. */
const EVENT_CALL = /\bevents\.(?<maker>normal|warning)\([^,]+,\s*(?<second>[^,]+?)\s*,/g;
const EVENT = /\.(?:normal|warning)\([^,]+,\s*'(?<reason>[A-Z][\w ]*)'/g;

/** Every reason that sources of programs give, as far as their text tells. */
export function scanReasons(files: readonly SourceFile[]): ReasonScan {
  const constants = new Map(files.flatMap(constantsOf));
  const byComponent = Map.groupBy(files, ({ path }) => componentOf(path));
  const constantsNear = new Map(
    [...byComponent].map(([component, all]) => [component, new Map([...constants, ...all.flatMap(constantsOf)])]),
  );
  const classes = files.flatMap(({ text }) => matches(text, ERROR_CLASS));
  const unreadable: string[] = [];
  const found = files.flatMap((file) => {
    // A name may mean something else in another component, or in another file of it.
    const known = new Map([...(constantsNear.get(componentOf(file.path)) ?? constants), ...constantsOf(file)]);
    const calls = callsIn(file, known);
    unreadable.push(...calls.unreadable);
    const made = classes.flatMap(({ name = '', use }) => instancesIn(file, name, dispositionNamed(use)));
    return [...calls.found, ...made, ...(speaksAsOthers(file) ? [] : wordsIn(file, known))];
  });
  return { found, unreadable };
}

const componentOf = (path: string): string => path.split('/', 2).join('/');

const constantsOf = ({ text }: SourceFile): readonly (readonly [string, string])[] =>
  matches(text, CONSTANT).map(({ name = '', reason = '' }) => [name, reason] as const);

/** The lab says in conditions and events what Kubernetes says, whose words are not ours; its errors are. */
const speaksAsOthers = ({ path }: SourceFile): boolean => /^src\/(?:lab|rpc)\//.test(path);

function callsIn(file: SourceFile, constants: ReadonlyMap<string, string>): ReasonScan {
  const found: FoundReason[] = [];
  const unreadable = speaksAsOthers(file) ? [] : unreadableEvents(file);
  for (const { maker = '', first = '' } of matches(file.text, CALL)) {
    const use = USE_OF[maker] ?? 'retry';
    const reason = LITERAL.exec(first)?.groups?.['reason'] ?? constants.get(first);
    if (reason !== undefined) found.push({ reason, use, path: file.path });
    else if (first === 'reason') found.push(...madeReasons(file, use));
    else if (!PASSED_ON.test(first)) unreadable.push(`${file.path}: ${maker}(${first}, …)`);
  }
  return { found, unreadable };
}

const unreadableEvents = ({ path, text }: SourceFile): string[] =>
  matches(text, EVENT_CALL)
    .filter(({ second = '' }) => !LITERAL.test(second) && !PASSED_ON.test(second) && second !== OF_CONDITION)
    .map(({ maker, second }) => `${path}: events.${maker}(…, ${second}, …)`);

const instancesIn = ({ path, text }: SourceFile, name: string, use: ReasonUse): readonly FoundReason[] =>
  matches(text, new RegExp(`\\bnew ${name}\\(\\s*'(?<reason>[A-Z]\\w*)'`, 'g')).map(({ reason = '' }) => ({
    reason,
    use,
    path,
  }));

/** What the callers in the same file give to a function of it that makes errors. */
const madeReasons = ({ path, text }: SourceFile, use: ReasonUse): readonly FoundReason[] =>
  matches(text, MAKER).flatMap(({ name = '' }) =>
    matches(text, new RegExp(`\\b${name}\\(\\s*'(?<reason>[A-Z]\\w*)'`, 'g')).map(({ reason = '' }) => ({
      reason,
      use,
      path,
    })),
  );

function wordsIn({ path, text }: SourceFile, constants: ReadonlyMap<string, string>): readonly FoundReason[] {
  const all: Search = (pattern, use) =>
    matches(text, pattern).flatMap(({ reason, after, before, constant = '' }) => {
      const found = [reason, after, before, constants.get(constant)].filter((word) => word !== undefined);
      return found.map((word) => ({ reason: word, use, path }));
    });
  return [
    // Below src/object these are the causes in an answer of an API server, which are not ours, but for conditions.
    ...(path.startsWith('src/object/') && !path.includes('condition') ? [] : all(FIELD, fieldUse(path))),
    ...all(FALLBACK, path.includes('/client/') ? 'retry' : 'condition'),
    ...all(EVENT, 'event'),
    ...(path.startsWith('src/agent/') ? agentWords(all) : []),
    // Lists of problems become one error.
    ...all(/\bproblems\.error\('(?<reason>[A-Z]\w*)'/g, 'user'),
    ...[...matches(text, SUPER), ...matches(text, TABLE)].map(({ use, reason = '' }) => ({
      reason,
      use: dispositionNamed(use),
      path,
    })),
  ];
}

type Search = (pattern: RegExp, use: ReasonUse) => readonly FoundReason[];

const agentWords = (all: Search): readonly FoundReason[] => [
  ...[SAID, MET, WAITED_FOR, EITHER].flatMap((pattern) => all(pattern, 'condition')),
  ...all(REFUSED, 'user'),
];

function fieldUse(path: string): ReasonUse {
  if (path.includes('/cache/')) return 'watch';
  if (/\/webhooks?\//.test(path)) return 'answer';
  return path.includes('/client/') ? 'retry' : 'condition';
}

const dispositionNamed = (name: string | undefined): ReasonUse =>
  name === 'user' || name === 'terminal' ? name : 'retry';

const matches = (text: string, pattern: RegExp): readonly Readonly<Record<string, string | undefined>>[] =>
  [...text.matchAll(pattern)].map(({ groups }) => groups ?? {});
