import type { Health } from '../../api/journey.ts';
import type { ConditionFilter } from './condition-filter.ts';
import type { ClusterReport } from './report.ts';
import { hasProblem, isProblem, labelOf, type Row, rowsIn } from './row.ts';
import { isGood, saying, type ToldCondition } from './told-condition.ts';

/** A line of the tree as it is drawn: an object, several that are alike, or a condition of one. */
export interface PictureRow {
  readonly label: string;
  readonly health: Health;
  readonly word: string;
  readonly since?: string | undefined;
  readonly why?: string | undefined;
  readonly children: readonly PictureRow[];
}

/** A report, and the rows of it that are worth a line. */
export interface ClusterPicture {
  readonly report: ClusterReport;
  readonly root: PictureRow;
}

export interface PictureOptions {
  /** Every Machine with everything that it is made of. */
  readonly isExpanded: boolean;
  /** Kinds, too, that only repeat others. */
  readonly hasAll: boolean;
  readonly conditions: ConditionFilter;
}

/** Folds what is alike and leaves out what only repeats others; a problem never goes (experience X44). Pure. */
export function clusterPicture(report: ClusterReport, options: PictureOptions): ClusterPicture {
  const [root] = new Folding(options).pictures([report.root]);
  return { report, root: root ?? { label: '', health: 'waiting', word: '', children: [] } };
}

const HINT = 'same state; --expand shows them';
/** Names of those that are folded; more would be a list. */
const MOST_NAMES = 3;

class Folding {
  readonly #options: PictureOptions;
  #hasHinted = false;

  constructor(options: PictureOptions) {
    this.#options = options;
  }

  pictures(rows: readonly Row[]): readonly PictureRow[] {
    const shown = rows.flatMap((row) => this.#shown(row));
    const groups = Map.groupBy(shown, (row) => (this.#isFoldable(row) ? keyOf(row) : row));
    return [...groups.values()].map((group) => {
      const [first, second] = group;
      return first === undefined || second !== undefined ? this.#folded(group) : this.#picture(first);
    });
  }

  /** What only `--all` shows gives its place to what is below it. */
  #shown(row: Row): readonly Row[] {
    const isShown =
      row.isExtra !== true ||
      this.#options.hasAll ||
      isProblem(row) ||
      row.word === 'deleting' ||
      this.#isAsked(row);
    return isShown ? [row] : row.children.flatMap((child) => this.#shown(child));
  }

  #isAsked(row: Row): boolean {
    return this.#options.conditions.of(row) !== undefined;
  }

  /** Only objects with a name, of which there may be many: something without one stands for itself. */
  #isFoldable(row: Row): boolean {
    return (
      !this.#options.isExpanded &&
      row.name !== '' &&
      !hasProblem(row) &&
      !rowsIn(row).some((one) => this.#isAsked(one))
    );
  }

  #folded(rows: readonly Row[]): PictureRow {
    const [first] = rows;
    if (first === undefined) return { label: '', health: 'waiting', word: '', children: [] };
    const names = shortNames(rows.map(({ name }) => name)).slice(0, MOST_NAMES);
    const more = rows.length > MOST_NAMES ? ', …' : '';
    // The state holds for all of them since the last one came into it.
    const since = rows
      .flatMap((row) => row.since ?? [])
      .toSorted()
      .at(-1);
    const hint = first.why === undefined && !this.#hasHinted ? HINT : undefined;
    this.#hasHinted ||= hint !== undefined;
    return {
      label: `${first.kind} ×${rows.length} (${names.join(', ')}${more})`,
      health: first.health,
      word: first.word,
      since,
      why: first.why ?? hint,
      children: [],
    };
  }

  #picture(row: Row): PictureRow {
    const conditions = (this.#options.conditions.of(row) ?? []).map(conditionPicture);
    const host = this.#hostOf(row);
    if (host !== undefined) return { ...joined(row, host), children: conditions };
    const children = this.#isEcho(row) ? [] : row.children.filter((child) => !this.#repeats(child, row));
    return {
      label: labelOf(row),
      health: row.health,
      word: row.word,
      since: row.since,
      why: row.why,
      children: [...conditions, ...this.pictures(children)],
    };
  }

  /** The host of an infrastructure machine stands in the same line. */
  #hostOf(row: Row): Row | undefined {
    const [host, second] = row.children;
    const isAlone = host?.kind === 'BareMetalHost' && second === undefined;
    return isAlone && !this.#options.hasAll && !this.#isAsked(host) ? host : undefined;
  }

  /** A Machine that is done says it for all that it is made of. */
  #isEcho(row: Row): boolean {
    const isQuiet = row.kind === 'Machine' && row.health === 'done' && !hasProblem(row);
    return isQuiet && !this.#options.isExpanded && !row.children.some((child) => this.#isAsked(child));
  }

  /** A Node that is there, or a part that says what its Machine says; the Agent is named all the same. */
  #repeats(row: Row, parent: Row): boolean {
    const isNode = row.kind === 'Node' && row.health === 'done';
    const isSame =
      row.kind !== 'Agent' && row.why !== undefined && row.word === parent.word && row.why === parent.why;
    const isEcho = isNode || (parent.kind === 'Machine' && isSame && !isProblem(row));
    return isEcho && !this.#options.isExpanded && !this.#isAsked(row);
  }
}

/** A beginning that all names share is worth nothing when it is long. */
const LONG_BEGINNING = 8;

function shortNames(names: readonly string[]): readonly string[] {
  const [first = ''] = names;
  const differs = Array.from(first).findIndex((character, at) => names.some((name) => name[at] !== character));
  const shared = first.slice(0, Math.max(0, differs));
  const beginning = shared.slice(0, shared.lastIndexOf('-') + 1);
  return beginning.length < LONG_BEGINNING ? names : names.map((name) => `…${name.slice(beginning.length)}`);
}

const keyOf = ({ kind, health, word, why = '' }: Row): string => JSON.stringify([kind, health, word, why]);

/** The state of the one that has more to say: the host while it is not done. */
function joined(row: Row, host: Row): Omit<PictureRow, 'children'> {
  const label = `${labelOf(row)} → BMH/${host.name}`;
  const said = isProblem(row) && !isProblem(host) ? row : host.health === 'done' ? row : host;
  return { label, health: said.health, word: said.word, since: said.since, why: said.why };
}

function conditionPicture(condition: ToldCondition): PictureRow {
  const { type, status, since } = condition;
  const isFine = isGood(condition);
  const isUnknown = status !== 'True' && status !== 'False';
  return {
    label: type,
    health: isFine ? 'done' : isUnknown ? 'waiting' : 'attention',
    word: status,
    since,
    why: isFine && condition.message === '' ? undefined : whyOf(condition),
    children: [],
  };
}

function whyOf(condition: ToldCondition): string {
  const said = saying(condition);
  return condition.reason === '' || said === condition.reason ? said : `${condition.reason}: ${said}`;
}
