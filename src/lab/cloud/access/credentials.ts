import { z } from 'zod';
import type { Clock } from '../../../base/clock.ts';
import { userError } from '../../../base/errors.ts';
import { CloudError, notFound } from '../cloud-error.ts';
import type { CloudReader, Transaction } from '../resources/resource-kind.ts';
import type { ShelfName } from '../resources/resource-record.ts';
import { type Scope, scopesIn, strangeScope } from './scopes.ts';
import { isSameSecret } from './signed-text.ts';

/** Who may use the cloud: what a scenario asks for. */
export interface CredentialSetup {
  readonly clientId: string;
  /** Made up unless given. */
  readonly clientSecret?: string;
  /** Separated by spaces; `read write` unless given. */
  readonly scope?: string;
}

export interface CloudCredential {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
}

interface KeptCredential extends CloudCredential, CredentialLife {
  readonly isRevoked: boolean;
}

/** One life of a credential: one that was revoked and made anew is another. */
export interface CredentialLife {
  readonly clientId: string;
  /** Tokens and signatures of an earlier one are worth nothing. */
  readonly epoch: number;
}

/** Who asks, and what for. */
export interface Caller extends CredentialLife {
  readonly scopes: readonly Scope[];
}

const CREDENTIALS: ShelfName<KeptCredential> = { shelf: 'credentials' };
const MOST_CREDENTIALS = 1000;

export const clientIdSchema = z
  .string()
  .regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/, 'must be 1 to 64 letters, digits, dots, dashes or underscores');

export const scopeSchema = z
  .string()
  .refine((text) => scopesIn(text).length > 0 && strangeScope(scopesIn(text)) === undefined, {
    message: 'must be read, write, admin or a kind with one of them, such as volumes:read; several with spaces',
  });

/** Who acts in the name of an instance (C28). */
export const instanceClient = (instanceId: string): string => `instance.${instanceId}`;

/** With the instance, in one transaction: nothing that was given to it is good any more, and its name is nobody's. */
export const dropInstanceClient = (instanceId: string, transaction: Transaction): void =>
  transaction.take(CREDENTIALS, instanceClient(instanceId));

/** A scenario that says nothing gets an administrator and somebody for a provider. */
export const USUAL_CREDENTIALS: readonly CredentialSetup[] = [
  { clientId: 'lab-admin', scope: 'admin read write' },
  { clientId: 'lab-provider', scope: 'read write' },
];

/** The credentials of one cloud; they are part of its state (C1). */
export class Credentials {
  readonly #state: CloudReader;
  readonly #random: Pick<Clock, 'uuid'>;

  constructor(state: CloudReader, random: Pick<Clock, 'uuid'>) {
    this.#state = state;
    this.#random = random;
  }

  /** Those that are good, with their secrets. */
  all(): readonly CloudCredential[] {
    return this.#state
      .entries(CREDENTIALS)
      .map(([, credential]) => credential)
      .filter(({ isRevoked }) => !isRevoked)
      .map(({ clientId, clientSecret, scope }) => ({ clientId, clientSecret, scope }));
  }

  /** What the scenario wants to be there; one that was revoked stays so. */
  ensure(setups: readonly CredentialSetup[], transaction: Transaction): void {
    for (const setup of setups) {
      const { clientId } = setup;
      const scope = setup.scope ?? 'read write';
      if (!clientIdSchema.safeParse(clientId).success || !scopeSchema.safeParse(scope).success)
        throw userError('InvalidCloudOptions', `cloud: credential "${clientId}" with scope "${scope}" cannot be`);
      const known = transaction.peek(CREDENTIALS, clientId);
      const clientSecret = setup.clientSecret ?? known?.clientSecret ?? this.#secret();
      const { epoch = 1, isRevoked = false } = known ?? {};
      transaction.place(CREDENTIALS, clientId, { clientId, clientSecret, scope, epoch, isRevoked });
    }
  }

  /** A new secret, also for one that was revoked. One that is good is refused. */
  create(clientId: string, scope: string, transaction: Transaction): CloudCredential {
    const known = transaction.peek(CREDENTIALS, clientId);
    if (known?.isRevoked === false)
      throw new CloudError('AlreadyExists', `there is a credential ${clientId} already`, { target: 'clientId' });
    if (transaction.entries(CREDENTIALS).length >= MOST_CREDENTIALS)
      throw new CloudError('QuotaExceeded', `there are ${MOST_CREDENTIALS} credentials already`, {
        details: { quota: 'credentials', limit: MOST_CREDENTIALS, used: MOST_CREDENTIALS },
      });
    const credential = { clientId, clientSecret: this.#secret(), scope };
    transaction.place(CREDENTIALS, clientId, {
      ...credential,
      epoch: (known?.epoch ?? 0) + 1,
      isRevoked: false,
    });
    return credential;
  }

  /** From now on neither the secret nor a token of it is good. */
  revoke(clientId: string, transaction: Transaction): void {
    const known = transaction.peek(CREDENTIALS, clientId);
    if (known === undefined || known.isRevoked) throw notFound(`credential ${clientId}`);
    transaction.place(CREDENTIALS, clientId, { ...known, isRevoked: true });
  }

  /** The credential of somebody who knows its secret. */
  proven(clientId: string, clientSecret: string): KeptCredential {
    const known = this.#state.peek(CREDENTIALS, clientId);
    const isRight = isSameSecret(known?.clientSecret ?? '', clientSecret);
    if (known === undefined || known.isRevoked || !isRight)
      throw new CloudError('Unauthenticated', 'there is no such client, or its secret is another one');
    return known;
  }

  /** Whether what was made with a credential, a token or a signature, is still good. */
  isCurrent({ clientId, epoch }: CredentialLife): boolean {
    const known = this.#state.peek(CREDENTIALS, clientId);
    return known?.isRevoked === false && known.epoch === epoch;
  }

  #secret(): string {
    return `${this.#random.uuid()}${this.#random.uuid()}`.replaceAll('-', '');
  }
}
