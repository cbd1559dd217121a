import { ConfigMap } from '../../../src/api/generated/core-v1.ts';
import type { Condition, Kind, KubeObject } from '../../../src/api/object.ts';
import type { Cache } from '../../../src/kube/cache/cache.ts';
import type { KubeClient } from '../../../src/kube/client/kube-client.ts';
import { isRecord } from '../../../src/object/record.ts';
import { BOX_LABEL, Box, Disk, mapsOf, NAMESPACE, TALLY_LABEL, Tally, talliedOf } from './kinds.ts';
import type { Provider } from './provider.ts';
import { isSame } from './reconcilers.ts';

interface World {
  readonly boxes: readonly Box[];
  readonly disks: readonly Disk[];
  readonly tallies: readonly Tally[];
  readonly maps: readonly ConfigMap[];
  readonly things: Provider['things'];
}

/** Everything there is, from the server itself. */
export async function worldNow({ live }: KubeClient, things: Provider['things']): Promise<World> {
  const all = async <T extends KubeObject, I>(kind: Kind<T, I>) =>
    (await live.list(kind, { namespace: NAMESPACE })).items;
  const [boxes, disks, tallies, maps] = await Promise.all([all(Box), all(Disk), all(Tally), all(ConfigMap)]);
  return { boxes, disks, tallies, maps, things };
}

export const sizeOf = ({ boxes, disks, tallies, maps }: World): number =>
  boxes.length + disks.length + tallies.length + maps.length;

/** What is not as the specs say, one line each. Pure: the specs alone decide. */
export const differences = (world: World): readonly string[] => [
  ...[...world.boxes, ...world.disks, ...world.tallies].flatMap(unrest),
  ...mapDifferences(world),
  ...world.boxes.flatMap(boxDifferences),
  ...diskDifferences(world),
  ...tallyDifferences(world),
];

interface Ruled extends KubeObject {
  readonly status?: {
    readonly generation?: number | undefined;
    readonly conditions?: readonly Condition[] | undefined;
  };
}

function unrest({ kind, metadata, status = {} }: Ruled): readonly string[] {
  const who = `${kind} ${metadata.name}`;
  const failed = (status.conditions ?? []).filter(
    ({ type, status: state }) =>
      (type === 'Ready' && state === 'False') || (type === 'Stalled' && state === 'True'),
  );
  return [
    ...(metadata.deletionTimestamp === undefined ? [] : [`${who} is still being deleted`]),
    ...(status.generation === metadata.generation
      ? []
      : [`${who} was not reconciled at generation ${metadata.generation} but at ${status.generation}`]),
    ...failed.map(({ type, message }) => `${who} still says ${type}: ${message}`),
  ];
}

function mapDifferences({ boxes, maps }: World): readonly string[] {
  const found = new Map(
    maps
      .filter(({ metadata: { labels = {} } }) => Object.hasOwn(labels, BOX_LABEL))
      .map((map) => [map.metadata.name, map]),
  );
  const problems: string[] = [];
  for (const wanted of boxes.flatMap(mapsOf)) {
    const { name } = wanted.metadata;
    const map = found.get(name);
    found.delete(name);
    if (map === undefined) problems.push(`map ${name} is missing`);
    else if (!isSame(map, wanted)) problems.push(`map ${name} is not what its box says`);
  }
  return [...problems, ...[...found.keys()].map((name) => `map ${name} belongs to nobody`)];
}

const boxDifferences = ({ metadata, spec, status = {} }: Box): readonly string[] =>
  status.copies === spec.copies && status.text === spec.text ? [] : [`the status of box ${metadata.name} is old`];

function diskDifferences({ disks, things }: World): readonly string[] {
  const left = new Map(things);
  const problems = disks.flatMap((disk) => {
    const { uid = '' } = disk.metadata;
    const size = left.get(uid)?.size;
    left.delete(uid);
    return oneDiskDifferences(disk, size);
  });
  return [...problems, ...[...left.values()].map(({ owner }) => `something of disk ${owner} leaked`)];
}

const oneDiskDifferences = (
  { metadata, spec, status = {} }: Disk,
  size: number | undefined,
): readonly string[] => [
  ...(size === spec.size ? [] : [`disk ${metadata.name} of ${spec.size} has ${size} outside`]),
  ...(status.size === spec.size ? [] : [`the status of disk ${metadata.name} is old`]),
  ...(metadata.finalizers?.length === 1 ? [] : [`disk ${metadata.name} has no finalizer`]),
];

function tallyDifferences({ tallies, boxes }: World): readonly string[] {
  const wanted = Map.groupBy(boxes.flatMap(mapsOf), ({ metadata: { labels } }) => labels?.[TALLY_LABEL] ?? '');
  return tallies.flatMap(({ metadata: { name }, status = {} }) => {
    const { count, letters } = talliedOf((wanted.get(name) ?? []).map(({ data }) => ({ data: textsOf(data) })));
    const isRight = status.count === count && status.letters === letters;
    return isRight ? [] : [`${name} says ${status.count}/${status.letters}, not ${count}/${letters}`];
  });
}

/** What is applied may leave fields out; a map of a box has them all. */
const textsOf = (data: object | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(data ?? {}).map(([key, value]) => [key, String(value)]));

/** Where the cache is not what the server says (P21), and objects that callers could change (P25). */
export function cacheDifferences(cache: Cache, { boxes, disks, tallies, maps }: World): readonly string[] {
  return [
    ...compared(cache.informer(Box).list(), boxes),
    ...compared(cache.informer(Disk).list(), disks),
    ...compared(cache.informer(Tally).list(), tallies),
    ...compared(cache.informer(ConfigMap).list({ namespace: NAMESPACE }), maps),
  ];
}

function compared(cached: readonly KubeObject[], live: readonly KubeObject[]): readonly string[] {
  const left = new Map(cached.map((object) => [object.metadata.name, object]));
  const problems: string[] = [];
  for (const object of live) {
    const { name } = object.metadata;
    const known = left.get(name);
    left.delete(name);
    if (known === undefined) problems.push(`the cache has no ${object.kind} ${name}`);
    else if (digest(known) !== digest(object)) problems.push(`the cache has another ${object.kind} ${name}`);
    else if (!Object.isFrozen(known) || !Object.isFrozen(known.metadata)) problems.push(`${name} can be changed`);
  }
  return [...problems, ...[...left.keys()].map((name) => `the cache still has ${name}`)];
}

/** The cache keeps no managed fields; the order of fields says nothing. */
const digest = (object: KubeObject): string =>
  JSON.stringify(object, (key, value: unknown) => {
    if (key === 'managedFields') return undefined;
    return isRecord(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  });
