import { isCidr, isEmail, isHostname, isIpv4, isIpv6, isMac, isRequestUri } from './formats-net.ts';
import { isDate, isDateTime, isDuration } from './formats-time.ts';

export type FormatCheck = (text: string) => boolean;

const matching =
  (pattern: RegExp): FormatCheck =>
  (text) =>
    pattern.test(text);

/** A UUID with optional dashes whose third and fourth group start with the given digits. */
const uuid = (version: string, variant: string): FormatCheck =>
  matching(
    new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`, 'i'),
  );

const digitAt = (text: string, index: number): number => text.charCodeAt(index) - 48;
const withoutSeparators = (text: string): string => text.replace(/[\t\n\f\r -]+/g, '');

function isIsbn10(text: string): boolean {
  const digits = withoutSeparators(text);
  if (!/^[0-9]{9}[0-9X]$/.test(digits)) return false;
  let sum = 10 * (digits[9] === 'X' ? 10 : digitAt(digits, 9));
  for (let index = 0; index < 9; index += 1) sum += (index + 1) * digitAt(digits, index);
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = withoutSeparators(text);
  if (!/^[0-9]{13}$/.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < 12; index += 1) sum += (index % 2 === 0 ? 1 : 3) * digitAt(digits, index);
  return digitAt(digits, 12) === (10 - (sum % 10)) % 10;
}

/** The number ranges of the card networks upstream knows. */
const CARD_NETWORKS = [
  /^4[0-9]{12}(?:[0-9]{3})?$/,
  /^5[1-5][0-9]{14}$/,
  /^6(?:011|5[0-9]{2})[0-9]{12}$/,
  /^3[47][0-9]{13}$/,
  /^3(?:0[0-5]|[68][0-9])[0-9]{11}$/,
  /^(?:2131|1800|35[0-9]{3})[0-9]{11}$/,
];

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '');
  if (!CARD_NETWORKS.some((network) => network.test(digits))) return false;
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = digitAt(digits, digits.length - 1 - index) * (index % 2 === 0 ? 1 : 2);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

const COLOUR = '\\s*(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*';
const SHORT_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;

const isShortName = (text: string): boolean => text.length <= 63 && SHORT_NAME.test(text);
const isLongName = (text: string): boolean =>
  text.length <= 253 && text.split('.').every((part) => SHORT_NAME.test(part));

/** Base64 with padding; the empty string is none, as upstream. */
const isBase64 = (text: string): boolean =>
  text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);

/** By name without dashes, as upstream looks them up (embedded-apiserver X16). */
const STRING_FORMATS: Readonly<Record<string, FormatCheck>> = {
  bsonobjectid: matching(/^[0-9a-fA-F]{24}$/),
  byte: isBase64,
  cidr: isCidr,
  creditcard: isCreditCard,
  date: isDate,
  datetime: isDateTime,
  duration: isDuration,
  email: isEmail,
  hexcolor: matching(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  hostname: isHostname,
  ipv4: isIpv4,
  ipv6: isIpv6,
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  k8slongname: isLongName,
  k8sshortname: isShortName,
  mac: isMac,
  password: () => true,
  rgbcolor: matching(new RegExp(`^rgb\\(${COLOUR},${COLOUR},${COLOUR}\\)$`)),
  ssn: matching(/^(?=.{11}$)\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  uri: isRequestUri,
  uuid: uuid('[0-9a-f]', '[0-9a-f]'),
  uuid3: uuid('3', '[0-9a-f]'),
  uuid4: uuid('4', '[89ab]'),
  uuid5: uuid('5', '[89ab]'),
};

/** The check of a string format, or undefined for one that upstream does not know. */
export function formatCheck(format: string): FormatCheck | undefined {
  const name = format.replaceAll('-', '');
  return Object.hasOwn(STRING_FORMATS, name) ? STRING_FORMATS[name] : undefined;
}

/** Whether a format means anything for a type; others are ignored, and warned about when a CRD uses them. */
export function isKnownFormat(type: string, format: string): boolean {
  if (type === '' || type === 'string') return formatCheck(format) !== undefined;
  if (type === 'integer') return format === 'int32' || format === 'int64';
  return type === 'number' && (format === 'float' || format === 'double');
}
