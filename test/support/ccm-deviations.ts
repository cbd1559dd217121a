import type { Difference } from './ccm-views.ts';

/** Where the two cloud controller managers differ on purpose, as a story shows it. */
export interface Deviation {
  readonly id: string;
  /** First cell of its row in docs/reference/deviations.md. */
  readonly row: string;
  /** Slugs of the stories in which it may be seen; anywhere else it is a mistake. */
  readonly stories: readonly string[];
  readonly matches: (difference: Difference) => boolean;
}

const isEventOf = (reason: string, { path }: Difference): boolean =>
  path.startsWith('events → ') && path.includes(` ${reason} `);

/** Why a node waits, in events that only we write. */
const WAITING = ['NodeAddressMismatch', 'InstanceNotFound', 'CloudUnavailable'];

export const DEVIATIONS: readonly Deviation[] = [
  {
    id: 'reasons',
    row: 'why a node is not initialised is in the log',
    stories: ['init', 'life'],
    matches: (difference) =>
      difference.go === undefined && WAITING.some((reason) => isEventOf(reason, difference)),
  },
  {
    id: 'condition',
    row: 'a problem that lasts is only logged',
    stories: ['init'],
    matches: ({ path, go }) => path.endsWith(' → conditions → CloudProviderDegraded') && go === undefined,
  },
  {
    id: 'evidence',
    row: 'the event `DeletingNode` says that the machine does not exist',
    stories: ['life', 'empty'],
    matches: (difference) => isEventOf('DeletingNode', difference),
  },
  {
    id: 'all-at-once',
    row: 'when the cloud has none of the machines of nodes that are not Ready, all these nodes are deleted at once',
    stories: ['empty'],
    matches: ({ path, go }) => path.startsWith('events → ') && go === undefined,
  },
  {
    id: 'order',
    row: 'compares the last address of each type: another order is not seen, two addresses of a type are always a change',
    stories: ['refresh'],
    matches: ({ path, go, ours }) =>
      path.endsWith(' → addresses') &&
      Array.isArray(go) &&
      Array.isArray(ours) &&
      go.length === ours.length &&
      go.every((address) => ours.includes(address)),
  },
  {
    id: 'backends',
    row: 'a node is a backend from its first moment on',
    stories: ['backends', 'lb'],
    matches: ({ path, go, ours }) =>
      path.endsWith(' → backends') &&
      Array.isArray(go) &&
      Array.isArray(ours) &&
      ours.length < go.length &&
      ours.every((name) => go.includes(name)) &&
      go.filter((name) => !ours.includes(name)).every((name) => String(name).endsWith(' ')),
  },
  {
    id: 'routes',
    row: 'lists the routes every ten seconds and repairs what it finds',
    stories: ['routes'],
    matches: ({ path, ours }) => path === 'routes → 10.244.2.0/24 via routes-two' && ours === undefined,
  },
];
