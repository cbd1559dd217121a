import { isJsonObject, type Json, type JsonObject, setKey } from '../../object/json.ts';
import { JsonProblem, parseJson, stringifyJson } from '../../object/json-text.ts';
import { cloudConfigProblem } from './problem.ts';

type AzureType = 'a text' | 'true or false' | 'a whole number' | 'a number' | 'an object' | 'a list';

const NAMES: Readonly<Record<AzureType, string>> = {
  'a text': `aadClientCertPassword aadClientCertPath aadClientId aadClientSecret aadFederatedTokenFile
    aadMSIDataPlaneIdentityPath cloud cloudConfigType clusterServiceLoadBalancerHealthProbeMode
    clusterServiceSharedLoadBalancerHealthProbePath extendedLocationName extendedLocationType identitySystem
    loadBalancerBackendPoolConfigurationType loadBalancerName loadBalancerResourceGroup loadBalancerSku location
    networkResourceSubscriptionID networkResourceTenantID preConfiguredBackendPoolLoadBalancerTypes
    primaryAvailabilitySetName primaryScaleSetName privateLinkServiceResourceGroup resourceGroup
    resourceManagerEndpoint routeTableName routeTableResourceGroup securityGroupName securityGroupResourceGroup
    subnetName subscriptionId systemTags tags tenantId userAgent userAssignedIdentityID vmType vnetName
    vnetResourceGroup`,
  'true or false': `cloudProviderBackoff cloudProviderRateLimit disableAPICallCache disableAvailabilitySetNodes
    disableAzureStackCloud disableOutboundSNAT enableIPTagMutationForExistingPublicIP
    enableMigrateToIPBasedBackendPoolAPI enableMinimumRetryAfter enableVmssFlexNodes excludeMasterFromStandardLB
    listVmssVirtualMachinesWithoutInstanceView useFederatedWorkloadIdentityExtension useInstanceMetadata
    useManagedIdentityExtension`,
  'a whole number': `availabilitySetsCacheTTLInSeconds cloudProviderBackoffDuration cloudProviderBackoffRetries
    cloudProviderRateLimitBucket cloudProviderRateLimitBucketWrite clusterServiceSharedLoadBalancerHealthProbePort
    loadBalancerBackendPoolUpdateIntervalInSeconds loadBalancerCacheTTLInSeconds maximumLoadBalancerRuleCount
    nodeInstanceNotFoundGracePeriodInSeconds nonVmssUniformNodesCacheTTLInSeconds nsgCacheTTLInSeconds
    plsCacheTTLInSeconds publicIPCacheTTLInSeconds putVMSSVMBatchSize routeTableCacheTTLInSeconds
    routeUpdateIntervalInSeconds routeUpdateWaitingInSeconds vmCacheTTLInSeconds vmssCacheTTLInSeconds
    vmssFlexCacheTTLInSeconds vmssFlexVMCacheTTLInSeconds vmssVirtualMachinesCacheTTLInSeconds`,
  'a number': `cloudProviderBackoffExponent cloudProviderBackoffJitter cloudProviderRateLimitQPS
    cloudProviderRateLimitQPSWrite`,
  'an object': 'auxiliaryTokenProvider Entries tagsMap',
  'a list': 'multipleStandardLoadBalancerConfigurations',
};

const CHECKS: Readonly<Record<AzureType, (value: Json) => boolean>> = {
  'a text': (value) => typeof value === 'string',
  'true or false': (value) => typeof value === 'boolean',
  'a whole number': (value) => typeof value === 'bigint' || Number.isInteger(value),
  'a number': (value) => typeof value === 'number' || typeof value === 'bigint',
  'an object': isJsonObject,
  'a list': Array.isArray,
};

interface AzureField {
  readonly name: string;
  readonly type: AzureType;
}

/** By their names in lower case: the program finds its keys in any case. */
const FIELDS: ReadonlyMap<string, AzureField> = new Map(
  (Object.keys(NAMES) as AzureType[]).flatMap((type) =>
    NAMES[type].split(/\s+/).map((name) => [name.toLowerCase(), { name, type }]),
  ),
);

/** The configuration with the keys that the program knows spelled and filled as it wants them, and all others kept. */
export function readAzureConfig(source: string): JsonObject {
  const value = parsed(source);
  if (value !== null && !isJsonObject(value)) throw unreadable('expected a JSON object');
  const config: JsonObject = {};
  for (const [key, member] of Object.entries(value ?? {})) {
    const field = FIELDS.get(key.toLowerCase());
    if (field === undefined) setKey(config, key, member);
    // To the program null is nothing, and does not even undo what a key said before it.
    else if (member !== null) config[field.name] = checked(field, key, member);
  }
  return config;
}

/** How upstream's program writes its configuration: fields in this order. */
const ORDER = `cloud userAgent resourceManagerEndpoint tenantId networkResourceTenantID cloudProviderBackoff
  disableAzureStackCloud enableMinimumRetryAfter aadClientId aadClientSecret aadClientCertPath aadClientCertPassword
  useManagedIdentityExtension userAssignedIdentityID aadFederatedTokenFile useFederatedWorkloadIdentityExtension
  auxiliaryTokenProvider aadMSIDataPlaneIdentityPath cloudProviderRateLimit cloudProviderRateLimitQPS
  cloudProviderRateLimitBucket cloudProviderRateLimitQPSWrite cloudProviderRateLimitBucketWrite Entries
  disableAPICallCache nonVmssUniformNodesCacheTTLInSeconds vmssCacheTTLInSeconds
  vmssVirtualMachinesCacheTTLInSeconds listVmssVirtualMachinesWithoutInstanceView vmssFlexCacheTTLInSeconds
  vmssFlexVMCacheTTLInSeconds vmCacheTTLInSeconds loadBalancerCacheTTLInSeconds nsgCacheTTLInSeconds
  routeTableCacheTTLInSeconds plsCacheTTLInSeconds availabilitySetsCacheTTLInSeconds publicIPCacheTTLInSeconds
  routeUpdateWaitingInSeconds cloudProviderBackoffRetries cloudProviderBackoffDuration subscriptionId identitySystem
  networkResourceSubscriptionID cloudConfigType resourceGroup location extendedLocationName extendedLocationType
  vnetName vnetResourceGroup subnetName securityGroupName securityGroupResourceGroup routeTableName
  routeTableResourceGroup primaryAvailabilitySetName vmType primaryScaleSetName tags tagsMap systemTags
  loadBalancerSku loadBalancerName loadBalancerResourceGroup preConfiguredBackendPoolLoadBalancerTypes
  disableAvailabilitySetNodes enableVmssFlexNodes useInstanceMetadata cloudProviderBackoffExponent
  cloudProviderBackoffJitter excludeMasterFromStandardLB disableOutboundSNAT maximumLoadBalancerRuleCount
  loadBalancerBackendPoolConfigurationType putVMSSVMBatchSize privateLinkServiceResourceGroup
  enableMigrateToIPBasedBackendPoolAPI enableIPTagMutationForExistingPublicIP
  multipleStandardLoadBalancerConfigurations routeUpdateIntervalInSeconds
  loadBalancerBackendPoolUpdateIntervalInSeconds clusterServiceLoadBalancerHealthProbeMode
  clusterServiceSharedLoadBalancerHealthProbePort clusterServiceSharedLoadBalancerHealthProbePath
  nodeInstanceNotFoundGracePeriodInSeconds`.split(/\s+/);

/** Written whether anybody has set them or not. */
const ALWAYS: JsonObject = { Entries: null, putVMSSVMBatchSize: 0, enableMigrateToIPBasedBackendPoolAPI: false };

/** False is not the same as nothing. */
const THREE_VALUED: ReadonlySet<string> = new Set(['excludeMasterFromStandardLB', 'disableOutboundSNAT']);

/**
 * The very bytes that upstream writes, as long as nothing is in it that upstream would drop, which comes last: the hash of
 * this text is in pod templates, and a cluster that is taken over keeps its pods (R38).
 */
export function azureConfigText(config: JsonObject): string {
  const written: JsonObject = {};
  for (const name of ORDER) {
    const value = config[name] ?? ALWAYS[name];
    if (value === undefined) continue;
    if (name in ALWAYS || THREE_VALUED.has(name) || !isNothing(value)) written[name] = value;
  }
  for (const [name, value] of Object.entries(config)) {
    if (!FIELDS.has(name.toLowerCase())) setKey(written, name, value);
  }
  return stringifyJson(written).replaceAll(/[<>&\u2028\u2029]/g, escaped);
}

const isNothing = (value: Json): boolean =>
  value === '' ||
  value === false ||
  value === 0 ||
  value === 0n ||
  (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

/** As Go writes what could be read as HTML. */
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

function checked({ type }: AzureField, key: string, value: Json): Json {
  if (!CHECKS[type](value)) throw unreadable(`expected ${type} as the value of "${key}"`);
  return value;
}

const unreadable = (message: string, cause?: unknown) =>
  cloudConfigProblem(`failed to unmarshal the cloud.conf: ${message}`, cause);

function parsed(source: string): Json {
  try {
    return parseJson(source).value;
  } catch (thrown) {
    if (!(thrown instanceof JsonProblem)) throw thrown;
    // What is wrong with a number is told with the number.
    if (thrown.kind === 'number') throw unreadable('holds a number that is too large');
    throw unreadable(`line ${problemLine(source)}: ${thrown.message}`, thrown);
  }
}

const TEXT_ENDS = 'unexpected end of JSON input';

/** Nothing of JSON goes over the end of a line: the first lines that are wrong, and not only too few, end with the mistake. */
function problemLine(source: string): number {
  const lines = source.split(/(?<=\n)/);
  const isWrong = (count: number): boolean => {
    try {
      parseJson(lines.slice(0, count).join(''));
      return false;
    } catch (thrown) {
      return thrown instanceof JsonProblem && thrown.message !== TEXT_ENDS;
    }
  };
  const first = lines.findIndex((_, index) => isWrong(index + 1));
  return first === -1 ? lines.length : first + 1;
}
