import type { Metal3DataTemplate, Metal3Machine } from '../../../api/metal3/infrastructure-v1beta2.ts';
import type { BareMetalHost } from '../../../api/metal3/metal3-v1alpha1.ts';
import type { KubeObject } from '../../../api/object.ts';
import { isRecord } from '../../../object/record.ts';

/** What a template may refer to. */
export interface DataObjects {
  readonly machine: KubeObject;
  readonly metal3Machine: Metal3Machine;
  readonly host: BareMetalHost;
  /** Of this machine among those of the template. */
  readonly index: number;
}

type Entry = Readonly<Record<string, unknown>>;
type Render = (entry: Entry, objects: DataObjects) => string | undefined;

/** Lists of a template, and what one item of each gives; addresses from pools are not part of the lab. */
const RENDERERS: Readonly<Record<string, Render>> = {
  strings: ({ value }) => text(value),
  objectNames: ({ object }, objects) => referred(object, objects)?.metadata.name,
  indexes: ({ offset, step, prefix, suffix }, { index }) =>
    `${text(prefix) ?? ''}${number(offset, 0) + index * number(step, 1)}${text(suffix) ?? ''}`,
  fromHostInterfaces: ({ interface: card }, { host }) =>
    host.status?.hardware?.nics?.find(({ name }) => name === card)?.mac,
  fromLabels: ({ object, label }, objects) => referred(object, objects)?.metadata.labels?.[text(label) ?? ''],
  fromAnnotations: ({ object, annotation }, objects) =>
    referred(object, objects)?.metadata.annotations?.[text(annotation) ?? ''],
};

/** What a template puts on the config drive of one host, and the provider ID without its scheme. Pure. */
export function renderedMetaData(
  { spec }: Metal3DataTemplate,
  objects: DataObjects,
): Readonly<Record<string, string>> {
  const pairs = Object.entries(RENDERERS).flatMap(([list, render]) =>
    entriesOf(spec?.metaData?.[list]).map((entry) => [text(entry['key']), render(entry, objects)] as const),
  );
  return {
    ...Object.fromEntries(
      pairs.flatMap(([key, value]) => (key === undefined || value === undefined ? [] : [[key, value]])),
    ),
    providerid: providerPath(objects.host, objects.metal3Machine),
  };
}

/** `<namespace>/<host>/<machine>`. */
export const providerPath = (host: BareMetalHost, { metadata: { namespace = '', name } }: Metal3Machine): string =>
  `${namespace}/${host.metadata.name}/${name}`;

function referred(name: unknown, { machine, metal3Machine, host }: DataObjects): KubeObject | undefined {
  const objects: Readonly<Record<string, KubeObject>> = {
    machine,
    metal3machine: metal3Machine,
    baremetalhost: host,
  };
  return objects[(text(name) ?? '').toLowerCase()];
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const number = (value: unknown, usual: number): number => (typeof value === 'number' ? value : usual);
const entriesOf = (value: unknown): readonly Entry[] => (Array.isArray(value) ? value.filter(isRecord) : []);
