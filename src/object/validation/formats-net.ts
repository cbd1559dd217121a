/** Checks of network formats as Go's net, net/url and net/mail packages decide them. */

const isDigits = (text: string): boolean => text !== '' && /^[0-9]+$/.test(text);

/** `isSloppy` allows leading zeros, as Kubernetes does for objects from before Go 1.17. */
function isDottedQuad(text: string, isSloppy: boolean): boolean {
  const parts = text.split('.');
  return (
    parts.length === 4 &&
    parts.every((part) => {
      if (!isDigits(part) || Number(part) > 255) return false;
      return isSloppy || part.length === 1 || !part.startsWith('0');
    })
  );
}

const HEX_GROUP = /^[0-9a-fA-F]{1,4}$/;

function isIpv6Text(text: string, isSloppy: boolean): boolean {
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
  const all = groups.flat();
  const last = text.endsWith('::') ? undefined : all.at(-1);
  const hasQuad = last?.includes('.') === true;
  if (hasQuad && !isDottedQuad(last ?? '', isSloppy)) return false;
  const hex = hasQuad ? all.slice(0, -1) : all;
  if (!hex.every((group) => HEX_GROUP.test(group))) return false;
  const count = hex.length + (hasQuad ? 2 : 0);
  return halves.length === 2 ? count < 8 : count === 8;
}

function isIp(text: string, isSloppy: boolean): boolean {
  return text.includes(':') ? isIpv6Text(text, isSloppy) : isDottedQuad(text, isSloppy);
}

/** A dotted IPv6 address passes too, as upstream. */
export const isIpv4 = (text: string): boolean => text.includes('.') && isIp(text, true);
export const isIpv6 = (text: string): boolean => text.includes(':') && isIp(text, false);

export function isCidr(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return false;
  const address = text.slice(0, slash);
  const bits = text.slice(slash + 1);
  return isIp(address, true) && isDigits(bits) && Number(bits) <= (address.includes(':') ? 128 : 32);
}

const MAC_BYTES = new Set([6, 8, 20]);

export function isMac(text: string): boolean {
  const separator = text[2] === ':' || text[2] === '-' ? text[2] : '.';
  const width = separator === '.' ? 4 : 2;
  const groups = text.split(separator);
  const group = width === 4 ? /^[0-9a-fA-F]{4}$/ : /^[0-9a-fA-F]{2}$/;
  return MAC_BYTES.has((groups.length * width) / 2) && groups.every((part) => group.test(part));
}

const HOST_CHAR = /^[a-zA-Z0-9\p{S}\p{L}]$/u;
const TOP_LEVEL = /^[a-zA-Z\p{L}]{2,63}$/u;

const byteLength = (text: string): number => new TextEncoder().encode(text).length;

/** Upstream's rule: one label with at most one dash, in second place, or dotted labels under a top level of letters. */
export function isHostname(text: string): boolean {
  const labels = text.split('.');
  if (byteLength(text) > 255 || labels.some((label) => byteLength(label) > 63)) return false;
  if (labels.length === 1) return isLoneLabel(Array.from(text));
  return (
    TOP_LEVEL.test(labels.at(-1) ?? '') && labels.slice(0, -1).every((label) => isDottedLabel(Array.from(label)))
  );
}

function isLoneLabel([first, ...rest]: readonly string[]): boolean {
  if (first === undefined || !HOST_CHAR.test(first)) return false;
  const tail = rest[0] === '-' ? rest.slice(1) : rest;
  return tail.length <= 62 && tail.every((char) => HOST_CHAR.test(char));
}

function isDottedLabel(chars: readonly string[]): boolean {
  const last = chars.at(-1);
  if (last === undefined || chars.length > 63) return false;
  if (!HOST_CHAR.test(chars[0] ?? '') || !HOST_CHAR.test(last)) return false;
  return chars.every((char) => char === '-' || HOST_CHAR.test(char));
}

const BAD_ESCAPE = /%(?![0-9a-fA-F]{2})/;
const SCHEME = /^[a-zA-Z][a-zA-Z0-9+.-]*:/;
const HOST = /^[a-zA-Z0-9\-_.~!$&'()*+,;=:[\]<>"\x80-\u{10ffff}]*$/u;
const USER = /^[a-zA-Z0-9\-._:~!$&'()*+,;=%@]*$/;

/** ASCII control characters. */
function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

/** What Go's url.ParseRequestURI accepts: an absolute URI or an absolute path. */
export function isRequestUri(text: string): boolean {
  if (text === '' || text.startsWith(':') || hasControl(text)) return false;
  if (text === '*') return true;
  const scheme = SCHEME.exec(text)?.[0] ?? '';
  const [beforeQuery = ''] = text.slice(scheme.length).split('?', 1);
  if (!beforeQuery.startsWith('/')) return scheme !== '';
  return scheme !== '' && beforeQuery.startsWith('//')
    ? isNetworkPath(beforeQuery)
    : !BAD_ESCAPE.test(beforeQuery);
}

/** `//host/path`. */
function isNetworkPath(text: string): boolean {
  const slash = text.indexOf('/', 2);
  if (slash < 0) return isAuthority(text.slice(2));
  return isAuthority(text.slice(2, slash)) && !BAD_ESCAPE.test(text.slice(slash));
}

function isAuthority(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (at >= 0 && (!USER.test(text.slice(0, at)) || BAD_ESCAPE.test(text.slice(0, at)))) return false;
  const host = text.slice(at + 1);
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']');
    return end > 0 && /^(:[0-9]*)?$/.test(host.slice(end + 1)) && isBracketedHost(host.slice(1, end));
  }
  const colon = host.lastIndexOf(':');
  if (colon >= 0 && !/^:[0-9]*$/.test(host.slice(colon))) return false;
  return HOST.test(host.replace(/%[89a-fA-F][0-9a-fA-F]/g, ''));
}

const isBracketedHost = (host: string): boolean => {
  const [address = '', zone] = host.split('%25', 2);
  return isIpv6(address) && (zone === undefined || !BAD_ESCAPE.test(zone));
};

const ATOM_CHARS = "a-zA-Z0-9!#$%&'*+\\-/=?^_`{|}~\\x80-\\u{10ffff}";
const DOT_ATOM = `[${ATOM_CHARS}]+(?:\\.[${ATOM_CHARS}]+)*`;
const QUOTED = '"(?:[^"\\\\\\x00-\\x1f\\x7f]|\\\\[\\x20-\\x7e\\t])*"';
const ADDRESS = new RegExp(
  `^[ \\t]*(?:${DOT_ATOM}|${QUOTED})@(?:${DOT_ATOM}|\\[[^\\[\\]\\\\\\s]*\\])[ \\t]*$`,
  'u',
);
/** One character or one quoted word at a time: nested repetitions would take exponential time on hostile texts. */
const DISPLAY_NAME = new RegExp(`^(?:[${ATOM_CHARS}. \\t]|${QUOTED})*$`, 'u');

/** What Go's mail.ParseAddress accepts, without comments and groups. */
export function isEmail(text: string): boolean {
  const trimmed = text.trimEnd();
  const bracket = trimmed.lastIndexOf('<');
  if (bracket < 0 || !trimmed.endsWith('>')) return ADDRESS.test(text);
  return DISPLAY_NAME.test(trimmed.slice(0, bracket)) && ADDRESS.test(trimmed.slice(bracket + 1, -1));
}
