import type { Environment } from '../../kube/config/surroundings.ts';

/** Where assisted-service is, and whom to trust when it is asked (section 2.2). */
export interface AssistedSettings {
  /** Ask the Service of assisted-service in this cluster instead of the address that it tells the world (E6). */
  readonly useInternalImageUrl: boolean;
  readonly imageServiceName: string;
  readonly imageServiceNamespace: string;
  readonly assistedServiceName: string;
  /** Empty: the namespace of the InfraEnv. */
  readonly assistedInstallerNamespace: string;
  /** Both empty: only the authorities of this machine are trusted. */
  readonly caBundleNamespace: string;
  readonly caBundleName: string;
  /** `secret` or `configmap`. */
  readonly caBundleResource: string;
  readonly caBundleKey: string;
}

export const ASSISTED_DEFAULTS: AssistedSettings = {
  useInternalImageUrl: false,
  imageServiceName: 'assisted-image-service',
  imageServiceNamespace: '',
  assistedServiceName: 'assisted-service',
  assistedInstallerNamespace: '',
  caBundleNamespace: 'assisted-installer',
  caBundleName: 'assisted-installer-ca',
  caBundleResource: 'secret',
  caBundleKey: 'ca.crt',
};

type TextSetting = Exclude<keyof AssistedSettings, 'useInternalImageUrl'>;

const TEXTS: Readonly<Record<TextSetting, string>> = {
  imageServiceName: 'IMAGE_SERVICE_NAME',
  imageServiceNamespace: 'IMAGE_SERVICE_NAMESPACE',
  assistedServiceName: 'ASSISTED_SERVICE_NAME',
  assistedInstallerNamespace: 'ASSISTED_INSTALLER_NAMESPACE',
  caBundleNamespace: 'ASSISTED_CA_BUNDLE_NAMESPACE',
  caBundleName: 'ASSISTED_CA_BUNDLE_NAME',
  caBundleResource: 'ASSISTED_CA_BUNDLE_RESOURCE',
  caBundleKey: 'ASSISTED_CA_BUNDLE_KEY',
};
const USE_INTERNAL = 'USE_INTERNAL_IMAGE_URL';

// As Go reads them.
const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False', '']);

export interface ReadAssistedSettings {
  readonly settings: AssistedSettings;
  /** Everything that is wrong. */
  readonly problems: readonly string[];
}

/** The settings of the environment; a variable that is set and empty is empty, one that is absent has its default. */
export function assistedSettings(env: Environment): ReadAssistedSettings {
  const texts = Object.entries(TEXTS).flatMap(([setting, variable]) => {
    const value = env[variable];
    return value === undefined ? [] : [[setting, value] as const];
  });
  const internal = env[USE_INTERNAL] ?? '';
  const settings = {
    ...ASSISTED_DEFAULTS,
    ...Object.fromEntries(texts),
    useInternalImageUrl: TRUE.has(internal),
  };
  const isBoolean = TRUE.has(internal) || FALSE.has(internal);
  return {
    settings,
    problems: [
      ...(isBoolean ? [] : [`${USE_INTERNAL} must be true or false, not "${internal}"`]),
      ...[bundleProblem(settings) ?? []].flat(),
    ],
  };
}

/** Pure: what is wrong with where the authorities are said to be (E7). */
export function bundleProblem(settings: AssistedSettings): string | undefined {
  const { caBundleName, caBundleNamespace, caBundleResource } = settings;
  if ((caBundleName === '') !== (caBundleNamespace === ''))
    return `${TEXTS.caBundleName} is "${caBundleName}" and ${TEXTS.caBundleNamespace} is "${caBundleNamespace}"; set both, or make both empty`;
  if (caBundleName !== '' && caBundleResource !== 'secret' && caBundleResource !== 'configmap')
    return `${TEXTS.caBundleResource} must be secret or configmap, not "${caBundleResource}"`;
  return undefined;
}
