import fc from 'fast-check';
import { hostileKey, jsonPiece } from './hostile-json.ts';
import { COLLECTIONS, type FuzzRequest, KINDS, type Requests } from './request.ts';

const TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

const pointer = fc
  .array(
    fc.oneof(
      hostileKey,
      fc.constantFrom('metadata', 'labels', 'spec', 'data', 'containers', '0', '-', '1e3', '-1', 'a'),
    ),
    {
      maxLength: 5,
    },
  )
  .map((keys) => keys.map((key) => `/${key}`).join(''));
const operation = fc
  .tuple(
    fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', '__proto__'),
    pointer,
    pointer,
    jsonPiece,
  )
  .map(
    ([op, path, from, piece]) =>
      `{"op":"${op}","path":${JSON.stringify(path)},"from":${JSON.stringify(from)},"value":${piece}}`,
  );
const doubling = fc
  .integer({ min: 5, max: 30 })
  .map((times) => [
    '{"op":"add","path":"/metadata/annotations","value":{"x":{"y":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}}',
    ...Array.from(
      { length: times },
      (_, at) => `{"op":"copy","from":"/metadata/annotations","path":"/metadata/annotations/c${at}"}`,
    ),
  ]);
const jsonPatch = fc
  .oneof(
    { weight: 10, arbitrary: fc.array(operation, { minLength: 1, maxLength: 4 }) },
    { weight: 1, arbitrary: doubling },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(10_000, 10_001)
        .map((count) => Array.from({ length: count }, () => '{"op":"test","path":"/kind","value":"x"}')),
    },
  )
  .map((operations) => `[${operations.join(',')}]`);

const objectPatch = fc
  .array(
    fc.tuple(
      fc.array(fc.oneof(hostileKey, fc.constantFrom('metadata', 'spec', 'data', 'labels')), { maxLength: 4 }),
      jsonPiece,
    ),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  .map((members) => `{${members.map(([keys, piece]) => member(keys, piece)).join(',')}}`);

const member = (keys: readonly string[], piece: string): string =>
  keys.length === 0
    ? `"annotations":${piece}`
    : `${JSON.stringify(keys[0])}:${keys.slice(1).reduceRight((inner, key) => `{${JSON.stringify(key)}:${inner}}`, piece)}`;

const directives = fc.constantFrom(
  '{"spec":{"containers":[{"name":"a","$patch":"replace"}]}}',
  '{"spec":{"containers":[{"$patch":"delete"}]}}',
  '{"spec":{"$setElementOrder/containers":[{"name":"zz"}],"containers":[{"name":"a"}]}}',
  '{"spec":{"$retainKeys":["__proto__"],"containers":null}}',
  '{"$patch":"delete"}',
  '{"metadata":{"$deleteFromPrimitiveList/finalizers":[1,{},null]}}',
  '{"metadata":{"finalizers":{"$patch":"merge"}}}',
  '{"spec":{"containers":{"__proto__":[]}}}',
  '{"spec":{"containers":[null,1,"a",[]]}}',
  '{"spec":{"ports":[{"port":80,"protocol":7}]}}',
);

const target = fc.tuple(fc.constantFrom(...KINDS), fc.constantFrom('', '', '', '/status', '/scale', '/nothing'));
const applied = fc
  .tuple(fc.constantFrom(...KINDS), objectPatch)
  .map(([kind, text]) => `{"kind":"${kind}","apiVersion":"v1",${text.slice(1)}`);

type Place = readonly [(typeof KINDS)[number], string];
const patchOf =
  (attack: string, type: keyof typeof TYPES) =>
  ([[kind, subresource], body]: readonly [Place, string]): FuzzRequest => ({
    attack,
    method: 'PATCH',
    path: `${COLLECTIONS[kind]}/target${subresource}?fieldManager=fuzz${type === 'apply' ? '&force=true' : ''}`,
    headers: { 'content-type': TYPES[type] },
    body,
  });

export const patchRequests: Requests = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(target, jsonPatch).map(patchOf('JSON patch', 'json')) },
  { weight: 2, arbitrary: fc.tuple(target, objectPatch).map(patchOf('merge patch', 'merge')) },
  { weight: 2, arbitrary: fc.tuple(target, objectPatch).map(patchOf('strategic patch', 'strategic')) },
  { weight: 1, arbitrary: fc.tuple(target, directives).map(patchOf('strategic directives', 'strategic')) },
  { weight: 2, arbitrary: fc.tuple(target, fc.oneof(objectPatch, applied)).map(patchOf('apply', 'apply')) },
);
