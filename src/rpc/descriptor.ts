import type { DescMessage } from '@bufbuild/protobuf';
import type { DescriptorProto, FieldDescriptorProto } from '@bufbuild/protobuf/wkt';
import { protobuf, wellKnown } from './libraries.ts';
import type { EnumType, Field, FieldShape, MessageType } from './message.ts';

/** Messages of Google's own files: described there, not by us. */
const FOREIGN = 'google.protobuf.';
const foreignFiles = () => {
  const { file_google_protobuf_timestamp: timestamp, file_google_protobuf_wrappers: wrappers } = wellKnown();
  return [timestamp, wrappers];
};

/** As the library calls them. */
const SCALARS = { string: 'STRING', bool: 'BOOL', int32: 'INT32', int64: 'INT64', uint64: 'UINT64' } as const;
const WRAPPERS = { bool: '.google.protobuf.BoolValue', int64: '.google.protobuf.Int64Value' } as const;

/** What the protobuf library needs to know of a message; made from its description and from nothing else. */
export function descriptorOf(root: MessageType): DescMessage {
  const parts = new Map<string, MessageType | EnumType>();
  collect(root, parts);
  const packageName = packageOf(root.name);
  const { create, createFileRegistry } = protobuf();
  const foreign = foreignFiles();
  const file = create(wellKnown().FileDescriptorProtoSchema, {
    name: `${root.name}.proto`,
    package: packageName,
    syntax: 'proto3',
    dependency: foreign.map(({ proto }) => proto.name),
    ...nested(packageName, parts),
  });
  const found = createFileRegistry(file, (name) => foreign.find(({ proto }) => proto.name === name));
  const descriptor = found.getMessage(root.name);
  if (descriptor === undefined) throw new Error(`the description of ${root.name} has no message of that name`);
  return descriptor;
}

/** Packages are written small, messages begin with a capital letter. */
const packageOf = (name: string): string => name.replace(/\.[A-Z].*$/, '');

function collect(type: MessageType, parts: Map<string, MessageType | EnumType>): void {
  if (type.name.startsWith(FOREIGN) || parts.has(type.name)) return;
  parts.set(type.name, type);
  for (const { shape } of Object.values(type.fields)) {
    if (shape.kind === 'enum') parts.set(shape.type.name, shape.type);
    if (shape.kind === 'message') collect(shape.type, parts);
  }
}

type Parts = ReadonlyMap<string, MessageType | EnumType>;

/** Everything directly within a package or a message; names say what is within what. */
function nested(scope: string, parts: Parts) {
  const names = [...parts.keys()].filter((name) => name.startsWith(`${scope}.`));
  const direct = [...new Set(names.map((name) => name.slice(scope.length + 1).split('.', 1)[0] ?? ''))];
  const types = direct.map((name) => ({ name, type: parts.get(`${scope}.${name}`) }));
  const enumType = types.flatMap(({ name, type }) =>
    type !== undefined && 'values' in type ? [enumProto(name, type)] : [],
  );
  // A message that is only known by what is within it has no fields.
  const messageType = types.flatMap(({ name, type }) =>
    type !== undefined && 'values' in type ? [] : [messageProto(name, `${scope}.${name}`, parts)],
  );
  return { messageType, enumType };
}

const enumProto = (name: string, { values }: EnumType) =>
  protobuf().create(wellKnown().EnumDescriptorProtoSchema, {
    name,
    // Names of values are those of the package around: what they belong to keeps them apart.
    value: Object.entries<number>(values).map(([value, number]) => ({ name: `${name}_${value}`, number })),
  });

function messageProto(name: string, fullName: string, parts: Parts): DescriptorProto {
  const type = parts.get(fullName);
  const fields = Object.entries(type !== undefined && 'fields' in type ? type.fields : {});
  // Those of optional fields, which have one each, come last.
  const named = [...new Set(fields.flatMap(([, { oneof }]) => oneof ?? []))];
  const single = fields.flatMap(([field, { isOptional }]) => (isOptional === true ? [`_${field}`] : []));
  const oneofs = [...named, ...single];
  const within = nested(fullName, parts);
  return protobuf().create(wellKnown().DescriptorProtoSchema, {
    name,
    field: fields.map(([field, of]) => fieldProto(field, of, { scope: fullName, oneofs })),
    oneofDecl: oneofs.map((oneof) => ({ name: oneof })),
    nestedType: [
      ...within.messageType,
      ...fields.flatMap(([field, { shape }]) => (shape.kind === 'map' ? [entryProto(field)] : [])),
    ],
    enumType: within.enumType,
  });
}

interface Around {
  readonly scope: string;
  readonly oneofs: readonly string[];
}

function fieldProto(name: string, field: Field, { scope, oneofs }: Around): FieldDescriptorProto {
  const { number, shape, isList, isOptional, oneof } = field;
  const isRepeated = isList === true || shape.kind === 'map';
  const oneofIndex = oneofs.indexOf(isOptional === true ? `_${name}` : (oneof ?? ''));
  const { FieldDescriptorProtoSchema, FieldDescriptorProto_Label: Label } = wellKnown();
  return protobuf().create(FieldDescriptorProtoSchema, {
    name,
    number,
    label: isRepeated ? Label.REPEATED : Label.OPTIONAL,
    ...typeOf(shape, `.${scope}.${entryName(name)}`),
    ...(oneofIndex >= 0 && { oneofIndex }),
    ...(isOptional === true && { proto3Optional: true }),
  });
}

function typeOf(shape: FieldShape, entry: string) {
  const { FieldDescriptorProto_Type: Type } = wellKnown();
  switch (shape.kind) {
    case 'scalar':
      return { type: Type[SCALARS[shape.scalar]] };
    case 'wrapper':
      return { type: Type.MESSAGE, typeName: WRAPPERS[shape.scalar] };
    case 'map':
      return { type: Type.MESSAGE, typeName: entry };
    case 'enum':
      return { type: Type.ENUM, typeName: `.${shape.type.name}` };
    case 'message':
      return { type: Type.MESSAGE, typeName: `.${shape.type.name}` };
  }
}

/** `volume_context` is a list of `VolumeContextEntry`. */
const entryName = (field: string): string =>
  `${field
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}Entry`;

const entryProto = (field: string): DescriptorProto =>
  protobuf().create(wellKnown().DescriptorProtoSchema, {
    name: entryName(field),
    field: [fieldProto('key', TEXT_KEY, LOOSE), fieldProto('value', TEXT_VALUE, LOOSE)],
    options: { mapEntry: true },
  });

const TEXT_KEY: Field = { number: 1, shape: { kind: 'scalar', scalar: 'string' } };
const TEXT_VALUE: Field = { number: 2, shape: { kind: 'scalar', scalar: 'string' } };
const LOOSE: Around = { scope: '', oneofs: [] };
