import type { Json } from '../../object/json.ts';
import * as rule from './config-rules.ts';

/** What is known of a part of an Ignition config 3.1: what it is made of, what it must be, and how it is merged. */
export type Shape = ValueShape | ObjectShape | ListShape;

export interface ValueShape {
  readonly kind: 'value';
  readonly type: 'string' | 'integer' | 'boolean';
  readonly isRequired?: boolean;
  readonly rule?: rule.Rule<Json>;
}

export interface ObjectShape {
  readonly kind: 'object';
  /** Fields that are not here belong to other versions: they are kept, and nothing is known of them. */
  readonly fields: Readonly<Record<string, Shape>>;
  readonly rule?: rule.Rule<rule.Fields>;
}

export interface ListShape {
  readonly kind: 'list';
  readonly item: ValueShape | ObjectShape;
  /** Items with the same key are one thing; undefined: all items stay, behind one another. */
  readonly key?: (item: Json) => string;
  /** Other lists of the same object in which a key means the same thing. */
  readonly rivals?: readonly string[];
  /** An item that takes the other away instead of being merged over it. */
  readonly isRemoval?: (item: rule.Fields) => boolean;
}

const value = (type: ValueShape['type'], check?: rule.Rule<Json>): ValueShape => ({
  kind: 'value',
  type,
  ...(check === undefined ? {} : { rule: check }),
});
const required = (check?: rule.Rule<Json>): ValueShape => ({ ...value('string', check), isRequired: true });
const object = (fields: ObjectShape['fields'], check?: rule.Rule<rule.Fields>): ObjectShape => ({
  kind: 'object',
  fields,
  ...(check === undefined ? {} : { rule: check }),
});
const listBy = (key: string, item: ObjectShape): ListShape => ({
  kind: 'list',
  item,
  key: (entry) => rule.textOf(entry, key),
});
const setOf = (item: ValueShape): ListShape => ({ kind: 'list', item, key: String });
const sequence = (item: ListShape['item']): ListShape => ({ kind: 'list', item });

const STRING = value('string');
const INTEGER = value('integer');
const BOOLEAN = value('boolean');

const RESOURCE_FIELDS = {
  compression: value('string', rule.compression),
  httpHeaders: {
    ...listBy('name', object({ name: required(), value: value('string', rule.notEmpty) })),
    // A header without a value means that there shall be none.
    isRemoval: (header: rule.Fields) => rule.isAbsent(header, 'value'),
  },
  source: value('string', rule.source),
  verification: object({ hash: value('string', rule.hash) }),
};
const RESOURCE = object(RESOURCE_FIELDS, rule.resource);
const RESOURCE_WITH_SOURCE = object(RESOURCE_FIELDS, rule.resourceWithSource);

const OWNER = object({ id: INTEGER, name: STRING }, rule.owner);
const NODE_FIELDS = { group: OWNER, overwrite: BOOLEAN, path: required(rule.path), user: OWNER };
const nodes = (item: ObjectShape, ...rivals: readonly string[]): ListShape => ({
  ...listBy('path', item),
  rivals,
});

const IGNITION = object({
  config: object({ merge: listBy('source', RESOURCE_WITH_SOURCE), replace: RESOURCE }),
  proxy: object({
    httpProxy: value('string', rule.proxy),
    httpsProxy: value('string', rule.proxy),
    noProxy: setOf(STRING),
  }),
  security: object({ tls: object({ certificateAuthorities: listBy('source', RESOURCE_WITH_SOURCE) }) }),
  timeouts: object({ httpResponseHeaders: INTEGER, httpTotal: INTEGER }),
  version: required(),
});

const PASSWD = object({
  groups: listBy('name', object({ gid: INTEGER, name: STRING, passwordHash: STRING, system: BOOLEAN })),
  users: listBy(
    'name',
    object({
      gecos: STRING,
      groups: setOf(STRING),
      homeDir: STRING,
      name: STRING,
      noCreateHome: BOOLEAN,
      noLogInit: BOOLEAN,
      noUserGroup: BOOLEAN,
      passwordHash: STRING,
      primaryGroup: STRING,
      sshAuthorizedKeys: setOf(STRING),
      shell: STRING,
      system: BOOLEAN,
      uid: INTEGER,
    }),
  ),
});

const PARTITION = object(
  {
    guid: value('string', rule.guid),
    label: value('string', rule.partitionLabel),
    number: INTEGER,
    shouldExist: BOOLEAN,
    sizeMiB: INTEGER,
    startMiB: INTEGER,
    typeGuid: value('string', rule.guid),
    wipePartitionEntry: BOOLEAN,
  },
  rule.partition,
);

const FILESYSTEM = object(
  {
    device: required(rule.path),
    format: STRING,
    label: STRING,
    mountOptions: sequence(STRING),
    options: sequence(STRING),
    path: value('string', rule.pathOrNothing),
    uuid: STRING,
    wipeFilesystem: BOOLEAN,
  },
  rule.filesystem,
);

const STORAGE = object({
  directories: nodes(object({ ...NODE_FIELDS, mode: INTEGER }), 'files', 'links'),
  disks: listBy(
    'device',
    object({
      device: required(rule.path),
      partitions: { kind: 'list', item: PARTITION, key: rule.partitionKey },
      wipeTable: BOOLEAN,
    }),
  ),
  files: nodes(
    object({ ...NODE_FIELDS, append: sequence(RESOURCE), contents: RESOURCE, mode: INTEGER }, rule.file),
    'directories',
    'links',
  ),
  filesystems: listBy('device', FILESYSTEM),
  links: nodes(object({ ...NODE_FIELDS, hard: BOOLEAN, target: STRING }), 'directories', 'files'),
  // Of newer versions; a config with it is kept whole.
  luks: listBy('name', object({})),
  raid: listBy(
    'name',
    object(
      { devices: setOf(STRING), level: required(), name: STRING, options: sequence(STRING), spares: INTEGER },
      rule.raid,
    ),
  ),
});

const UNIT = object({
  contents: STRING,
  dropins: listBy('name', object({ contents: STRING, name: required(rule.dropinName) })),
  enabled: BOOLEAN,
  mask: BOOLEAN,
  name: required(rule.unitName),
});

export const CONFIG = object({
  ignition: IGNITION,
  passwd: PASSWD,
  storage: STORAGE,
  systemd: object({ units: listBy('name', UNIT) }),
});
