import { readFile } from 'node:fs/promises';
import type { ExitCode } from '../../kube/manager/exit-code.ts';
import { cloudOperator } from '../operator/cloud-operator.ts';
import { operatorCache } from '../operator/watches.ts';
import type { ProgramParts } from './assembly.ts';
import { OPERATOR_FLAGS } from './flags.ts';
import { ImagesWatch } from './images-watch.ts';
import { type OperatorProgram, runOperatorProgram } from './operator-program.ts';

/** The program that deploys cloud controller managers. */
export const CLOUD_OPERATOR: ProgramParts = {
  name: 'slipway-cloud-operator',
  lease: 'operatorLease',
  flags: OPERATOR_FLAGS,
  isServing: true,
  cache: ({ settings: { names, provider }, registry }) =>
    operatorCache(names, registry.operandKinds(names.managedNamespace, { provider })),
  setup: (manager, { settings, registry, tls, readText = (file) => readFile(file, 'utf8') }) => {
    const { names, provider, releaseVersion: version, gatesVersion, prune, imagesFile: file } = settings;
    const read = () => readText(file);
    const images = new ImagesWatch({ read, clock: manager.clock, key: { name: names.clusterOperator } });
    return [
      images,
      cloudOperator(manager, {
        names,
        version,
        gatesVersion,
        providers: registry,
        ...(provider !== undefined && { provider }),
        prune,
        tls,
        images: { file, read, keys: registry.imageKeys() },
        imagesChanged: images.changes,
      }),
    ];
  },
};

/** Runs until it is told to stop; see `runOperatorProgram`. */
export const runCloudOperator = (program: OperatorProgram): Promise<ExitCode> =>
  runOperatorProgram(program, CLOUD_OPERATOR);
