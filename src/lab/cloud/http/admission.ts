import type { IncomingMessage } from 'node:http';
import type { Caller, Credentials } from '../access/credentials.ts';
import { requireScope } from '../access/scopes.ts';
import type { Tokens } from '../access/tokens.ts';
import { CloudError } from '../cloud-error.ts';
import type { JournalEntry } from '../faults/journal.ts';
import { OPERATIONS } from '../resources/operation.ts';
import type { CloudReader } from '../resources/resource-kind.ts';
import type { RateLimits } from './rate-limits.ts';
import { accessOf, type Route } from './route.ts';

export interface AdmissionOptions {
  readonly tokens: Tokens;
  readonly credentials: Credentials;
  readonly rates: RateLimits;
  readonly state: CloudReader;
}

interface Asked {
  readonly message: IncomingMessage;
  readonly method: string;
  readonly query: URLSearchParams;
  readonly note: (more: Partial<JournalEntry>) => void;
}

/** Who asks, and whether it may (C1, C8). */
export class Admission {
  readonly #options: AdmissionOptions;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** The holder of the token of a request; refuses one without. */
  known({ headers }: IncomingMessage): Caller {
    const [, token] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
    if (token !== undefined) return this.#options.tokens.caller(token);
    throw new CloudError(
      'Unauthenticated',
      'a token is needed: Authorization: Bearer TOKEN, from POST /v1/tokens',
    );
  }

  /** Who asks, if it may, and not too often. Nobody is asked for a token to get one. */
  admitted(route: Route, asked: Asked): Caller | undefined {
    if (route.to === 'tokens') return undefined;
    const { message, method, note } = asked;
    const signer = this.#signer(route, asked);
    const caller = signer ?? this.known(message);
    note({ credential: caller.clientId });
    const { kind, access } = this.#access(route, method);
    if (route.to !== 'lab') this.#options.rates.take(caller.clientId, access === 'read' ? 'read' : 'write');
    if (signer === undefined) requireScope(caller.scopes, kind, access);
    return caller;
  }

  /** Who may see an object may see what becomes of it. */
  #access(route: Route, method: string): ReturnType<typeof accessOf> {
    const operation = route.to === 'operation' ? this.#options.state.peek(OPERATIONS, route.id) : undefined;
    return operation === undefined ? accessOf(route, method) : { kind: operation.kind, access: 'read' };
  }

  /** A URL that somebody with a token signed is as good as the token, for what it says. */
  #signer(route: Route, { method, query }: Asked): Caller | undefined {
    if (route.to !== 'subresource' || !query.has('signature')) return undefined;
    const { declared, rest } = route.sub;
    const signer = declared.signer?.({ id: route.id, method, rest, query });
    if (signer === undefined) return undefined;
    if (this.#options.credentials.isCurrent(signer)) return { ...signer, scopes: [] };
    throw new CloudError('Unauthenticated', 'the credential that signed this URL has been revoked');
  }
}
