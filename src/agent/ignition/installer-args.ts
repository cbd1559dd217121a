import type { OpenshiftAssistedConfigSpec } from '../../api/agent/bootstrap-v1alpha2.ts';

/** The arguments of coreos-installer, as the JSON list that an Agent has them in: kernel arguments of the installed node. */
export const installerArgs = ({ kernelArguments = [] }: OpenshiftAssistedConfigSpec): string =>
  JSON.stringify(kernelArguments.flatMap(({ operation, value }) => [`--${operation}-karg`, value]));
