import { goQuote } from '../../object/validation/go-text.ts';
import { isControl } from './go-text.ts';

/** The parts of a URL as Go's net/url tells them apart. */
export interface GoUrl {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly text: string;
}

/** A URL that could stand in an HTTP request line, or what Go says is wrong with it. */
export function parseUrl(text: string): GoUrl | string {
  const problem = (detail: string): string => `parse ${goQuote(text)}: ${detail}`;
  const wrongShape = shapeProblem(text);
  if (wrongShape !== undefined) return problem(wrongShape);
  const [, scheme = '', afterScheme = text] = SCHEME.exec(text) ?? [];
  const [beforeFragment = ''] = scheme === '' ? [afterScheme] : afterScheme.split('#', 1);
  const [body, query] = halves(beforeFragment, beforeFragment.indexOf('?'));
  const url = { scheme: scheme.toLowerCase(), query, text };
  // Without a slash everything after the scheme is opaque.
  if (!body.startsWith('/')) return { ...url, host: '', path: '' };
  const { host, path } = scheme === '' ? { host: '', path: body } : authorityAndPath(body);
  const wrongPart = hostProblem(host) ?? escapeProblem(path);
  return wrongPart === undefined ? { ...url, host: unescapeHost(host), path } : problem(wrongPart);
}

/** The user and password before the host are nobody's business. */
function authorityAndPath(body: string): { readonly host: string; readonly path: string } {
  const [, authority = '', path = body] = /^\/\/([^/]*)(.*)$/.exec(body) ?? [];
  return { host: authority.slice(authority.lastIndexOf('@') + 1), path };
}

const SCHEME = /^([a-zA-Z][a-zA-Z0-9+.-]*):(.*)$/;

/** What is before and after an offset; all is before when there is none. */
const halves = (text: string, at: number): readonly [string, string] =>
  at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];

function shapeProblem(text: string): string | undefined {
  if (Array.from(text).some(isControl)) return 'net/url: invalid control character in URL';
  if (text === '') return 'empty url';
  if (text.startsWith(':')) return 'missing protocol scheme';
  return SCHEME.test(text) || text.startsWith('/') ? undefined : 'invalid URI for request';
}

function hostProblem(host: string): string | undefined {
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']');
    if (end < 0) return "missing ']' in host";
    return portProblem(host.slice(end + 1));
  }
  const colon = host.lastIndexOf(':');
  const port = colon < 0 ? undefined : portProblem(host.slice(colon));
  if (port !== undefined) return port;
  const bad = /[^a-zA-Z0-9\-._~!$&'()*+,;=:[\]<>"%\x80-\u{10ffff}]/u.exec(host)?.[0];
  return bad === undefined ? escapeProblem(host) : `invalid character ${goQuote(bad)} in host name`;
}

const portProblem = (port: string): string | undefined =>
  port === '' || /^:\d*$/.test(port) ? undefined : `invalid port ${goQuote(port)} after host`;

function escapeProblem(text: string): string | undefined {
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(text)?.[0];
  return bad === undefined ? undefined : `invalid URL escape ${goQuote(bad)}`;
}

const unescapeHost = (host: string): string => (host.includes('%') ? decode(host) : host);

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const portOf = ({ host }: GoUrl): string => /:(\d*)$/.exec(host)?.[1] ?? '';

export const hostnameOf = ({ host }: GoUrl): string => {
  const name = host.replace(/:\d*$/, '');
  return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
};

/** The path with everything escaped that must be; what is escaped already stays. */
export const escapedPath = ({ path }: GoUrl): string =>
  path.replace(/[^a-zA-Z0-9\-._~!$&'()*+,;=:@/[\]%]+/gu, (part) => encodeURIComponent(part));

/** The values of each key, in order; pairs that are wrongly escaped or hold a semicolon are dropped. */
export function queryValues({ query }: GoUrl): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';') || escapeProblem(pair) !== undefined) continue;
    const [key = '', value = ''] = halves(pair, pair.indexOf('=')).map((part) =>
      decode(part.replaceAll('+', ' ')),
    );
    const known = values.get(key);
    if (known === undefined) values.set(key, [value]);
    else known.push(value);
  }
  return values;
}
