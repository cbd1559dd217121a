import { byteLength } from '../../object/names.ts';

// Rules for names inside objects that names of objects do not follow. An empty list is a good name.

const KEY = '[-._a-zA-Z0-9]+';
const LONGEST_KEY = 253;
const LONGEST_PORT_NAME = 15;

const keyPattern = new RegExp(`^${KEY}$`);

/** Keys of ConfigMaps and Secrets, which become file names. */
export function configKeyProblems(text: string): readonly string[] {
  return [
    ...(byteLength(text) > LONGEST_KEY ? [`must be no more than ${LONGEST_KEY} bytes`] : []),
    ...(keyPattern.test(text)
      ? []
      : [
          `a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '${KEY}')`,
        ]),
    ...fileNameProblems(text),
  ];
}

function fileNameProblems(text: string): readonly string[] {
  if (text === '.' || text === '..') return [`must not be '${text}'`];
  return text.startsWith('..') ? ["must not start with '..'"] : [];
}

/** Names of ports. */
export function portNameProblems(text: string): readonly string[] {
  return [
    ...(text.length > LONGEST_PORT_NAME ? [`must be no more than ${LONGEST_PORT_NAME} characters`] : []),
    ...(/^[-a-z0-9]+$/.test(text)
      ? []
      : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
    ...(/[a-z]/.test(text) ? [] : ['must contain at least one letter (a-z)']),
    ...(text.includes('--') ? ['must not contain consecutive hyphens'] : []),
    ...(text.startsWith('-') || text.endsWith('-') ? ['must not begin or end with a hyphen'] : []),
  ];
}

export const portNumberProblems = (port: number): readonly string[] =>
  port >= 1 && port <= 65_535 ? [] : ['must be between 1 and 65535, inclusive'];

/** Names of environment variables. */
export const variableNameProblems = (text: string): readonly string[] =>
  /^[ -<>-~]+$/.test(text)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
