import { oracleFile } from './needs-oracle.ts';
import { type Outcome, outcomeOf } from './scratch.ts';

/** Runs clusterctl without a network and with `home` for a home. */
export const clusterctl = (home: string, ...words: readonly string[]): Promise<Outcome> =>
  outcomeOf(oracleFile('clusterctl'), words, {
    HOME: home,
    XDG_CONFIG_HOME: home,
    CLUSTERCTL_DISABLE_VERSIONCHECK: 'true',
    GOPROXY: 'off',
  });

/** An object in the tree of `clusterctl describe cluster`, with what is said of it. */
export interface DescribedObject {
  readonly kind: string;
  readonly name: string;
  /** As `2/2`; empty for what has none. */
  readonly replicas: string;
  readonly upToDate: string;
  /** By type: `True`, `False` or `Unknown`. */
  readonly conditions: Readonly<Record<string, string>>;
}

const OBJECT = /^[│├└─ ]*(\w+) [^/ ]+\/([^, ]+)/;
const CONDITION = /[├└]─(\w+) *$/;

type Line = Readonly<Record<'name' | 'replicas' | 'upToDate' | 'status', string>>;

/** Its columns have the width of what is in them. */
function linesIn(text: string): readonly Line[] {
  const [header = '', ...lines] = text.split('\n').filter((line) => line.trim() !== '');
  const cut = (line: string, name: string, next: string) =>
    line.slice(header.indexOf(name), header.indexOf(next)).trim();
  return lines.map((line) => ({
    name: cut(line, 'NAME', 'REPLICAS'),
    replicas: cut(line, 'REPLICAS', 'AVAILABLE'),
    upToDate: cut(line, 'UP TO DATE', 'STATUS'),
    status: cut(line, 'STATUS', 'REASON'),
  }));
}

function conditionsBelow(lines: readonly Line[]): DescribedObject['conditions'] {
  const end = lines.findIndex(({ name }) => OBJECT.test(name));
  return Object.fromEntries(
    (end < 0 ? lines : lines.slice(0, end))
      .filter(({ status }) => status !== '')
      .flatMap(({ name, status }) => {
        const [, type] = CONDITION.exec(name) ?? [];
        return type === undefined ? [] : [[type, status]];
      }),
  );
}

/** The tree as `--show-conditions all` prints it. Rows that stand for no object, such as `Workers`, are left out. */
export function describedObjects(text: string): readonly DescribedObject[] {
  const lines = linesIn(text);
  return lines.flatMap(({ name: label, replicas, upToDate }, at) => {
    const [, kind, name] = OBJECT.exec(label) ?? [];
    if (kind === undefined || name === undefined) return [];
    return [{ kind, name, replicas, upToDate, conditions: conditionsBelow(lines.slice(at + 1)) }];
  });
}
