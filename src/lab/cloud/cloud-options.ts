import type { Server } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { userError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Endpoint } from '../address/address-plan.ts';
import type { CredentialSetup } from './access/credentials.ts';
import type { Boot } from './boot.ts';
import { type Rates, USUAL_RATES } from './http/rate-limits.ts';
import type { KindSettings } from './resources/kind-catalogue.ts';
import type { CloudAddresses, KindFactory } from './resources/resource-kind.ts';

export interface CloudOptions extends KindSettings {
  /** Makes the server listen; where it can be reached then. */
  readonly listen: (server: Server) => Promise<Endpoint>;
  /** Of the lab: everything is kept in `cloud` below it. */
  readonly directory: string;
  /** Lab time. */
  readonly clock: Clock;
  readonly real: Clock;
  readonly log: Log;
  /** Same seed, same identifiers and accidents; 1 unless told otherwise. */
  readonly seed?: number;
  /** `a` and `b` unless told otherwise. */
  readonly zones?: readonly string[];
  readonly rates?: Partial<Rates>;
  /** How long a token is good; an hour unless told otherwise. */
  readonly tokenLifeSeconds?: number;
  /** An administrator and somebody for a provider unless told otherwise. */
  readonly credentials?: readonly CredentialSetup[];
  /** Makes nodes of instances; without it they are only told. */
  readonly boot?: Boot;
  readonly addresses: CloudAddresses;
  /** More kinds: load balancers, DNS zones … */
  readonly kinds?: readonly KindFactory[];
  /** Keeps lab time still while something is being done (T3). */
  readonly hold?: (reason: string) => Disposable;
}

const USUAL_ZONES = ['a', 'b'];
const ZONE = /^[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?$/;

/** The zones of a cloud. Throws when one cannot be part of a host name. */
export function zoneNames({ zones = USUAL_ZONES }: Pick<CloudOptions, 'zones'>): readonly string[] {
  const wrong = zones.find((zone) => !ZONE.test(zone));
  if (wrong !== undefined)
    throw userError(
      'InvalidCloudOptions',
      `cloud: "${wrong}" is no name of a zone: use letters, digits and dashes`,
    );
  if (zones.length === 0) throw userError('InvalidCloudOptions', 'cloud: there must be at least one zone');
  return zones;
}

/** How often clients may ask. Throws when they never could. */
export function chosenRates({ rates = {} }: Pick<CloudOptions, 'rates'>): Rates {
  const chosen = { ...USUAL_RATES, ...rates };
  const wrong = Object.entries(chosen).find(([, { perSecond, burst }]) => !(perSecond > 0) || !(burst >= 1));
  if (wrong !== undefined)
    throw userError(
      'InvalidCloudOptions',
      `cloud: rates.${wrong[0]} needs perSecond above 0 and a burst of at least 1`,
    );
  return chosen;
}
