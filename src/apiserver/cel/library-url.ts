import { OpaqueValue } from './equality.ts';
import { global, member, type Overload } from './function.ts';
import { escapedPath, type GoUrl, hostnameOf, parseUrl, portOf, queryValues } from './go-url.ts';
import { bySize } from './library-operators.ts';
import { BOOL, listOf, mapOf, objectType, STRING } from './type.ts';
import { CelError, CelList, EntryMap } from './value.ts';

const NAME = 'kubernetes.URL';

class Url extends OpaqueValue {
  readonly typeName = NAME;
  readonly parts: GoUrl;
  constructor(parts: GoUrl) {
    super();
    this.parts = parts;
  }

  equals(other: this): boolean {
    return this.parts.text === other.parts.text;
  }
}

const URL_TYPE = objectType<Url>(NAME);

function toUrl(text: string): Url {
  const parts = parseUrl(text);
  if (typeof parts === 'string') throw new CelError(`URL parse error during conversion from string: ${parts}`);
  return new Url(parts);
}

function queryMap({ parts }: Url): EntryMap {
  const map = new EntryMap();
  for (const [key, values] of queryValues(parts)) map.set(key, new CelList(values));
  return map;
}

export const urls: readonly Overload[] = [
  global('url', [STRING], URL_TYPE, { call: toUrl, cost: bySize() }),
  global('isURL', [STRING], BOOL, { call: (text) => typeof parseUrl(text) !== 'string' }),
  member('getScheme', [URL_TYPE], STRING, { call: ({ parts }) => parts.scheme }),
  member('getHost', [URL_TYPE], STRING, { call: ({ parts }) => parts.host }),
  member('getHostname', [URL_TYPE], STRING, { call: ({ parts }) => hostnameOf(parts) }),
  member('getPort', [URL_TYPE], STRING, { call: ({ parts }) => portOf(parts) }),
  member('getEscapedPath', [URL_TYPE], STRING, { call: ({ parts }) => escapedPath(parts) }),
  member('getQuery', [URL_TYPE], mapOf(STRING, listOf(STRING)), { call: queryMap }),
];
