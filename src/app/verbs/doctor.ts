import type { SettingTable } from '../settings.ts';
import { defineVerb } from '../verb.ts';

const settings = {
  online: {
    type: 'boolean',
    default: false,
    description: 'also ask the npm registry (the only check that uses the network)',
  },
} as const satisfies SettingTable;

/** Checks the machine: what Slipway needs, and what is lost without the optional programs. */
export const doctorVerb = defineVerb({
  name: 'doctor',
  group: 'start here',
  summary: 'check this machine: what Slipway needs, and what is lost without the optional programs',
  examples: ['slipway doctor', 'slipway doctor --online'],
  settings,
  load: async () => {
    const [{ gatherFacts }, { checks, checksText, isBroken }, { DASHBOARD_PORT }] = await Promise.all([
      import('../doctor/facts.ts'),
      import('../doctor/checks.ts'),
      import('../port.ts'),
    ]);
    return async ({ output, folder, env, clock, signal }, { online }) => {
      const now = () => clock.now();
      const facts = await gatherFacts({
        folder,
        env,
        isOnline: online,
        dashboardPort: DASHBOARD_PORT,
        now,
        signal,
      });
      const all = checks(facts);
      output.result(checksText(all), all);
      return all.some(isBroken) ? 3 : 0;
    };
  },
});
