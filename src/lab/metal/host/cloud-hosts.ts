import type { Clock } from '../../../base/clock.ts';
import { retryError } from '../../../base/errors.ts';
import { hardwareId } from '../../machine/hardware-id.ts';
import type { HttpInstanceCloud } from '../cloud-machine/http-instance-cloud.ts';
import type { BootedHost, HostPower } from './host-power.ts';

const TIMEOUT_MS = 30_000;
const LOOK_MS = 200;
/** What a host boots is a matter of Metal3; the cloud has nothing to say to it. */
const NOTHING = JSON.stringify({ ignition: { version: '3.4.0' } });
const MOST_LOOKS = 100;

export interface CloudHostsOptions {
  readonly hosts: HostPower;
  readonly cloud: Pick<HttpInstanceCloud, 'ensure' | 'find' | 'remove'>;
  readonly clock: Pick<Clock, 'sleep'>;
  /** At least one. */
  readonly zones: readonly string[];
}

/**
 * Machines of a cloud that rents out bare metal: each that is on is an instance there, under the name of its host, so that
 * whoever asks the cloud finds it. Metal3 knows nothing of it.
 */
export class CloudHosts implements HostPower {
  readonly #hosts: HostPower;
  readonly #cloud: CloudHostsOptions['cloud'];
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #zones: readonly string[];

  constructor({ hosts, cloud, clock, zones }: CloudHostsOptions) {
    this.#hosts = hosts;
    this.#cloud = cloud;
    this.#clock = clock;
    this.#zones = zones;
  }

  /** Resolves when the instance is on. */
  async powerOn(host: BootedHost): Promise<void> {
    const zone = this.#zoneOf(host);
    const wish = { name: host.name, userData: NOTHING, ...(zone !== undefined && { zone }) };
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const { id, state } = await this.#cloud.ensure(host.id, wish, AbortSignal.timeout(TIMEOUT_MS));
      if (state === 'running') return await this.#hosts.powerOn({ ...host, id: hardwareId(id) });
      await this.#clock.sleep(LOOK_MS);
    }
    throw retryError(
      'InstanceNotRunning',
      `the instance of host ${host.name} is not on yet; the cloud is asked again`,
    );
  }

  /** By the number at the end of its name: those of one kind are spread. */
  #zoneOf({ name }: BootedHost): string | undefined {
    const number = Number(/\d+$/.exec(name)?.[0] ?? 0);
    return this.#zones[number % this.#zones.length];
  }

  /** After a restart too: the cloud is asked which instance it is. */
  async wipe(id: string): Promise<void> {
    const found = await this.#cloud.find(id, AbortSignal.timeout(TIMEOUT_MS));
    if (found === undefined) return;
    await this.#hosts.wipe(hardwareId(found.id));
    await this.#cloud.remove(id, AbortSignal.timeout(TIMEOUT_MS));
  }
}
