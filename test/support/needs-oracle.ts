import type { Variables } from '../../oracles/cache.ts';
import { type Finding, findOracle, type Machine } from '../../oracles/find.ts';
import { hostMachine } from '../../oracles/machine.ts';
import { type Need, unmetNeed } from '../../oracles/need.ts';
import { ORACLES, type Oracle } from '../../oracles/registry.ts';
import { suggestion } from '../../src/app/nearest.ts';

/** Goes between the name and the body of `describe`. */
export interface SuiteOptions {
  readonly skip: false | string;
}

export type NeedsOracle = (name: string, need?: Need) => SuiteOptions;

/** The rule behind needsOracle, over any machine. `announce` gets one line per oracle that is used. */
export function oracleNeeds(machine: Machine, announce: (line: string) => void): NeedsOracle {
  const required = requiredNames(machine.variables);
  const announced = new Set<string>();
  const announceOnce = (name: string, finding: Finding): void => {
    if (finding.state !== 'supported' || announced.has(name)) return;
    announced.add(name);
    announce(`oracle ${name} ${finding.version ?? '(version unknown)'} (${finding.path})`);
  };
  return (name, need = {}) => {
    const oracle = registered(name);
    const finding = findOracle(oracle, machine);
    const unmet = unmetNeed(oracle, finding, need);
    if (unmet === undefined) {
      announceOnce(name, finding);
      return { skip: false };
    }
    if (required.includes(name)) throw new Error(`SLIPWAY_REQUIRE_ORACLES names ${name}, but: ${unmet}`);
    return { skip: unmet };
  };
}

/** A typo would quietly require nothing. */
function requiredNames(variables: Variables): readonly string[] {
  const words = (variables['SLIPWAY_REQUIRE_ORACLES'] ?? '').split(',').map((name) => name.trim());
  const names = words.filter((name) => name !== '');
  const known = ORACLES.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return names;
  throw new Error(`SLIPWAY_REQUIRE_ORACLES names ${unknown}, which is no oracle${suggestion(unknown, known)}`);
}

function registered(name: string): Oracle {
  const oracle = ORACLES.find((candidate) => candidate.name === name);
  if (oracle !== undefined) return oracle;
  throw new Error(`no oracle is called ${name}; known are ${ORACLES.map((known) => known.name).join(', ')}`);
}

/** Made at the first question, so that importing this file asks nothing of the machine. */
let onThisMachine: NeedsOracle | undefined;

/**
 * Skips a suite, with the reason, when the oracle is missing or too old; throws instead when SLIPWAY_REQUIRE_ORACLES
 * names it, so that CI cannot go quietly empty: `describe('…', needsOracle('kube-apiserver', { min: '1.35' }), …)`.
 */
export const needsOracle: NeedsOracle = (name, need) => {
  onThisMachine ??= oracleNeeds(hostMachine(process.env), (line) => void process.stdout.write(`${line}\n`));
  return onThisMachine(name, need);
};

/** For a suite with several needs: the first that is not met decides. */
export const needsAll = (...needs: readonly SuiteOptions[]): SuiteOptions => ({
  skip: needs.find(({ skip }) => skip !== false)?.skip ?? false,
});

/** The program of an oracle, for suites that needsOracle let through; throws when it cannot be used after all. */
export function oracleFile(name: string, variables: Variables = process.env): string {
  const oracle = registered(name);
  const finding = findOracle(oracle, hostMachine(variables));
  if (finding.state === 'supported') return finding.path;
  throw new Error(`${unmetNeed(oracle, finding, {})}; run \`npm run oracles ${name}\``);
}
