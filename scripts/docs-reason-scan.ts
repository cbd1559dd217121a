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
/** The reason of another error is passed on: it is found where that one is made. */
const PASSED_ON = /^\w+\.reason$/;
/** Also those whose reason is computed, which must not be. */
const EVENT_CALL = /\bevents\.(?<maker>normal|warning)\([^,]+,\s*(?<second>[^,]+?)\s*,/g;
const EVENT = /\.(?:normal|warning)\([^,]+,\s*'(?<reason>[A-Z][\w ]*)'/g;

/** Every reason that sources of programs give, as far as their text tells. */
export function scanReasons(files: readonly SourceFile[]): ReasonScan {
  const constants = new Map(
    files.flatMap(({ text }) => matches(text, CONSTANT).map(({ name = '', reason = '' }) => [name, reason])),
  );
  const classes = files.flatMap(({ text }) => matches(text, ERROR_CLASS));
  const unreadable: string[] = [];
  const found = files.flatMap((file) => {
    const calls = callsIn(file, constants);
    unreadable.push(...calls.unreadable);
    const made = classes.flatMap(({ name = '', use }) => instancesIn(file, name, dispositionNamed(use)));
    return [...calls.found, ...made, ...(speaksAsOthers(file) ? [] : wordsIn(file, constants))];
  });
  return { found, unreadable };
}

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
    .filter(({ second = '' }) => !LITERAL.test(second) && !PASSED_ON.test(second))
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
  const all = (pattern: RegExp, use: ReasonUse) =>
    matches(text, pattern).flatMap(({ reason, after, before, constant = '' }) => {
      const found = reason ?? after ?? before ?? constants.get(constant);
      return found === undefined ? [] : [{ reason: found, use, path }];
    });
  return [
    // Below src/object these are the causes in an answer of an API server, which are not ours, but for conditions.
    ...(path.startsWith('src/object/') && !path.includes('condition') ? [] : all(FIELD, fieldUse(path))),
    ...all(FALLBACK, path.includes('/client/') ? 'retry' : 'condition'),
    ...all(EVENT, 'event'),
    // Lists of problems become one error.
    ...all(/\bproblems\.error\('(?<reason>[A-Z]\w*)'/g, 'user'),
    ...[...matches(text, SUPER), ...matches(text, TABLE)].map(({ use, reason = '' }) => ({
      reason,
      use: dispositionNamed(use),
      path,
    })),
  ];
}

function fieldUse(path: string): ReasonUse {
  if (path.includes('/cache/')) return 'watch';
  if (path.includes('/webhook/')) return 'answer';
  return path.includes('/client/') ? 'retry' : 'condition';
}

const dispositionNamed = (name: string | undefined): ReasonUse =>
  name === 'user' || name === 'terminal' ? name : 'retry';

const matches = (text: string, pattern: RegExp): readonly Readonly<Record<string, string | undefined>>[] =>
  [...text.matchAll(pattern)].map(({ groups }) => groups ?? {});
