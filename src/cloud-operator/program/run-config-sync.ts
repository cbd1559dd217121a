import type { ExitCode } from '../../kube/manager/exit-code.ts';
import { configSyncCache, configSyncControllers, sharedUse } from '../config-sync/controllers.ts';
import { watchedNamespaces } from '../config-sync/places.ts';
import type { ProgramParts } from './assembly.ts';
import { CONFIG_SYNC_FLAGS } from './flags.ts';
import { type OperatorProgram, runOperatorProgram } from './operator-program.ts';

/** The program that keeps cloud config and authorities in step. */
export const CLOUD_CONFIG_SYNC: ProgramParts = {
  name: 'slipway-cloud-config-sync',
  lease: 'configSyncLease',
  flags: CONFIG_SYNC_FLAGS,
  isServing: false,
  cache: ({ settings: { names, provider }, registry }) => {
    const use = sharedUse(registry, provider);
    const { byKind = {} } = configSyncCache(names, use);
    return { namespaces: watchedNamespaces(names, use.usesShared), byKind };
  },
  setup: ({ clock }, { settings, registry, readText }) => {
    const { names, gatesVersion, provider, systemTrustBundle } = settings;
    return configSyncControllers({
      registry,
      names,
      gatesVersion,
      settings: { provider, systemTrustBundle },
      clock,
      ...(readText !== undefined && { readText }),
    });
  },
};

/** Runs until it is told to stop; see `runOperatorProgram`. */
export const runConfigSync = (program: OperatorProgram): Promise<ExitCode> =>
  runOperatorProgram(program, CLOUD_CONFIG_SYNC);
