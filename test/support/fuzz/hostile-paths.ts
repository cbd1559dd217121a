import fc from 'fast-check';
import { COLLECTIONS, FUZZED, KEPT, KINDS, type Requests } from './request.ts';

const segment = fc.oneof(
  fc.constantFrom(
    'api',
    'apis',
    'v1',
    'namespaces',
    FUZZED,
    'configmaps',
    'watch',
    'proxy',
    'status',
    'scale',
    'apps',
    '__proto__',
    'constructor',
    'toString',
    '%00',
    '%2e%2e',
    '..',
    '.',
    '%2f',
    '%252e',
    '%',
    '%zz',
    '%c0%af',
    '%ff',
    '',
    'A'.repeat(300),
    '*',
    '%20',
    'target',
    ';a=b',
    '%E2%80%AE',
    'openapi',
    'v3',
    'metrics',
    'healthz',
    'debug',
    'version',
  ),
  fc.string({ maxLength: 12 }).map((text) => encodeURI(text).replaceAll(/[#?]/g, '')),
);
const freePath = fc.array(segment, { minLength: 1, maxLength: 9 }).map((segments) => `/${segments.join('/')}`);
/** Ways out of the namespace, towards what must not change. */
const escapes = fc
  .constantFrom('%2e%2e%2f%2e%2e%2f', '..%2f..%2f', '../../', '%252e%252e%252f', './%2e/', '%2f', '//', '%00/')
  .map((way) => `${COLLECTIONS.ConfigMap}/${way}${KEPT}/configmaps/canary`);
const method = fc.constantFrom(
  'GET',
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
);

/** Health checks with a wait, profiles and the like are nobody's business here. */
export const pathRequests: Requests = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(method, freePath).map(([verb, path]) => ({ attack: 'hostile path', method: verb, path })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('GET', 'DELETE', 'PUT'), escapes)
      .map(([verb, path]) => ({ attack: 'way out of a namespace', method: verb, path })),
  },
);

/** One of the future takes a server three seconds to refuse, so there are few. */
const revision = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.constantFrom('-1', '0', '1', 'NaN', ' 1', '1.5', '', 'x', '18446744073709551616', '٣'),
  },
  { weight: 1, arbitrary: fc.constantFrom('9223372036854775808', '99999999') },
);
const number = fc.constantFrom('-1', '0', '1', '1e9', 'NaN', '9223372036854775808', '0x1', ' 1', '1.5', '', '١');
const selector = fc.oneof(
  fc.constantFrom(
    'a=b,',
    '!',
    '!a',
    'a in ()',
    'a in (b',
    'a notin (b,c),d',
    'a>1',
    'a>x',
    '=',
    '==',
    ',,,',
    'a==b==c',
    '__proto__=x',
    'metadata.name=__proto__',
    'metadata.name!=a',
    'status.phase=Running',
    'spec.nodeName=',
    'a=\\',
    'metadata.name=a\\,b',
    `a in (${'b,'.repeat(2000)}c)`,
    `${'a=b,'.repeat(2000)}c`,
    `${'('.repeat(2000)}`,
    `${'x'.repeat(5000)}=y`,
    'a=b\u0000',
    'ä=ö',
    'a = b , c in ( d )',
  ),
  fc.string({ maxLength: 30 }),
);
const token = fc.oneof(
  fc.constantFrom(
    'x',
    '',
    'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi8uLi9rZXB0In0',
    Buffer.from('{"v":"meta.k8s.io/v1","rv":-1,"start":"a"}').toString('base64url'),
    Buffer.from('{"v":"meta.k8s.io/v1","rv":1e99,"start":"a\\u0000"}').toString('base64url'),
    Buffer.from('{"v":"meta.k8s.io/v1","rv":5,"start":{"__proto__":1}}').toString('base64url'),
    Buffer.from('[]').toString('base64url'),
    Buffer.from('null').toString('base64url'),
    'ÿ'.repeat(50),
  ),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64')),
);
const flag = fc.constantFrom('true', 'false', '', 'maybe', '1', '__proto__', 'TRUE');
const option = fc.oneof(
  fc.tuple(fc.constantFrom('limit', 'timeoutSeconds', 'gracePeriodSeconds'), number),
  fc.tuple(fc.constant('resourceVersion'), revision),
  fc.tuple(fc.constantFrom('labelSelector', 'fieldSelector'), selector),
  fc.tuple(fc.constant('continue'), token),
  fc.tuple(
    fc.constantFrom('pretty', 'allowWatchBookmarks', 'sendInitialEvents', 'force', 'orphanDependents', 'dryRun'),
    flag,
  ),
  fc.tuple(
    fc.constantFrom(
      'resourceVersionMatch',
      'fieldValidation',
      'propagationPolicy',
      'fieldManager',
      '__proto__',
      'includeObject',
    ),
    fc.oneof(
      flag,
      fc.constantFrom('Exact', 'NotOlderThan', 'Strict', 'Orphan', 'Foreground', 'é'.repeat(200), '\u0007'),
    ),
  ),
);
const queryText = fc
  .oneof(
    { weight: 8, arbitrary: fc.array(option, { minLength: 1, maxLength: 4 }) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(option, fc.constantFrom(100, 400))
        .map(([one, count]) => Array.from({ length: count }, () => one)),
    },
  )
  .map((options) =>
    new URLSearchParams(options.map(([name = '', value = '']): [string, string] => [name, value]))
      .toString()
      .slice(0, 12_000),
  );

export const queryRequests: Requests = fc
  .tuple(
    fc.constantFrom('GET', 'GET', 'GET', 'DELETE', 'POST'),
    fc.constantFrom(...KINDS),
    fc.constantFrom('', '', '/target', '/other'),
    queryText,
    fc.nat(20).map((way) => (way === 0 ? 'watch=true&timeoutSeconds=1&' : '')),
  )
  .map(([verb, kind, name, query, watch]) => ({
    attack: watch === '' ? 'hostile options' : 'hostile options of a watch',
    method: verb,
    // The first value of an option counts.
    path: `${COLLECTIONS[kind]}${verb === 'DELETE' ? '/other' : name}?${verb === 'GET' ? watch : ''}${query}`,
  }));

const mediaType = fc.oneof(
  fc.constantFrom(
    'application/json;as=Table;g=meta.k8s.io;v=v1',
    'application/json;as=Table;g=__proto__;v=constructor',
    '*/*;q=9',
    'a/b',
    'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
    'application/yaml',
    'application/cbor',
    ';;;',
    ',',
    '/',
    'application/vnd.kubernetes.protobuf',
    'application/json;stream=watch;q=0',
    'application/json;q=NaN',
    '"',
    'text/html',
    'application/json;as=Table;g=meta.k8s.io;v=v1beta1',
    'application/*',
    '__proto__/__proto__',
  ),
  fc.string({ maxLength: 20, unit: fc.constantFrom(...'abc/;=,*" qv.+1'.split('')) }),
);
const accept = fc.oneof(
  { weight: 6, arbitrary: fc.array(mediaType, { minLength: 1, maxLength: 4 }).map((types) => types.join(',')) },
  {
    weight: 1,
    arbitrary: fc.tuple(mediaType, fc.constantFrom(100, 700)).map(([type, count]) =>
      Array.from({ length: count }, () => type)
        .join(',')
        .slice(0, 12_000),
    ),
  },
);

export const headerRequests: Requests = fc
  .tuple(
    fc.constantFrom(
      ...KINDS.map((kind) => COLLECTIONS[kind]),
      '/api',
      '/apis',
      '/openapi/v2',
      '/openapi/v3/api/v1',
      '/version',
      '/',
    ),
    accept,
    fc.constantFrom<Readonly<Record<string, string>>>(
      {},
      {},
      { authorization: `Bearer ${'x'.repeat(3000)}` },
      { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.' },
      { authorization: 'Basic __proto__' },
      { 'impersonate-user': '__proto__', 'impersonate-group': 'constructor' },
      { 'impersonate-user': 'a', 'impersonate-extra-__proto__': 'x' },
      { 'impersonate-group': 'only-a-group' },
      { 'if-none-match': '"*"', range: 'bytes=0-1', expect: '200-maybe' },
      { 'x-http-method-override': 'DELETE', 'audit-id': 'a'.repeat(500) },
      { 'user-agent': 'curl/__proto__', 'accept-encoding': 'gzip;q=0, br' },
    ),
  )
  .map(([path, type, extra]) => ({
    attack: 'hostile headers',
    method: 'GET',
    path,
    headers: { accept: type, ...extra },
  }));
