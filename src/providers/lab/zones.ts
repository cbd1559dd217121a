import type { Call } from '../../sdk/capabilities/call.ts';
import type { Zones } from '../../sdk/capabilities/zones.ts';
import type { LabClient } from './lab-client.ts';

/** Zones of the lab cloud. Volumes of one cannot be attached in another (lab/C19). */
export const zones: Zones<Call<LabClient>> = {
  declare: () => ({ isolated: true }),
  async list({ client, signal }) {
    const known = await client.zones(signal);
    return known.map(({ name, region, available }) => ({ name, region, isAvailable: available }));
  },
};
