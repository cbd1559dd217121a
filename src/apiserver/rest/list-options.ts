import { type FieldError, forbidden, notSupported } from '../../object/field-error.ts';
import { badRequest } from '../status.ts';
import { parseRevision } from './get.ts';
import { parseBoolean, parseCount, refuseOptions } from './options.ts';
import type { Scope } from './services.ts';

export interface ListOptions {
  readonly limit: number;
  readonly continueToken: string;
  readonly resourceVersion: string;
  readonly match: '' | 'Exact' | 'NotOlderThan';
}

export interface WatchOptions {
  readonly resourceVersion: string;
  readonly allowBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
  readonly timeoutSeconds: number | undefined;
}

const MATCHES = ['Exact', 'NotOlderThan'];
const MATCH = 'resourceVersionMatch';
const WITH_CONTINUE = forbidden(MATCH, `${MATCH} is forbidden when continue is provided`);

function matchErrors(match: string, resourceVersion: string, continueToken: string): readonly FieldError[] {
  if (match === '') return [];
  const errors: FieldError[] = [];
  if (resourceVersion === '')
    errors.push(forbidden(MATCH, `${MATCH} is forbidden unless resourceVersion is provided`));
  if (continueToken !== '') errors.push(WITH_CONTINUE);
  if (!MATCHES.includes(match)) errors.push(notSupported(MATCH, match, [...MATCHES, '']));
  if (match === 'Exact' && resourceVersion === '0') {
    errors.push(forbidden(MATCH, `${MATCH} "exact" is forbidden for resourceVersion "0"`));
  }
  return errors;
}

/** Options of a list (L2, L4). */
export function listOptions({ request: { query } }: Scope): ListOptions {
  const resourceVersion = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  const continueToken = query.get('continue') ?? '';
  const limit = Math.max(0, parseCount(query, 'limit') ?? 0);
  parseCount(query, 'timeoutSeconds');
  const errors = [...matchErrors(match, resourceVersion, continueToken)];
  if (query.has('sendInitialEvents')) {
    errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  refuseOptions('ListOptions', errors);
  if (continueToken !== '' && resourceVersion !== '' && resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  if (resourceVersion !== '') parseRevision(resourceVersion, 'invalid resource version: ');
  return {
    limit,
    continueToken,
    resourceVersion,
    match: match === 'Exact' || match === 'NotOlderThan' ? match : '',
  };
}

/** Options of a watch (T2, T9). */
export function watchOptions({ request: { query } }: Scope): WatchOptions {
  const resourceVersion = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  const sendInitialEvents = query.has('sendInitialEvents')
    ? parseBoolean(query.get('sendInitialEvents') ?? '')
    : undefined;
  const errors = [...initialEventsErrors(sendInitialEvents, match)];
  // A watch from the present is one with initial events to upstream, which sets the match for it.
  const hasMatch = match !== '' || (sendInitialEvents === undefined && ['', '0'].includes(resourceVersion));
  if (hasMatch && query.get('continue')) errors.push(WITH_CONTINUE);
  refuseOptions('ListOptions', errors);
  if (resourceVersion !== '') parseRevision(resourceVersion);
  return {
    resourceVersion,
    sendInitialEvents,
    allowBookmarks: query.has('allowWatchBookmarks') && parseBoolean(query.get('allowWatchBookmarks') ?? ''),
    timeoutSeconds: parseCount(query, 'timeoutSeconds'),
  };
}

function initialEventsErrors(sendInitialEvents: boolean | undefined, match: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    errors.push(forbidden(MATCH, `sendInitialEvents requires setting ${MATCH} to NotOlderThan`));
  }
  if (sendInitialEvents === undefined && match !== '') {
    errors.push(forbidden(MATCH, `${MATCH} is forbidden for watch unless sendInitialEvents is provided`));
  }
  if (match !== '' && match !== 'NotOlderThan') errors.push(notSupported(MATCH, match, ['NotOlderThan']));
  return errors;
}
