import type { Capabilities } from '../../sdk/capabilities/capabilities.ts';
import type { DefinitionProblem } from '../../sdk/provider/definition-error.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';
import { longestClusterKey } from '../../sdk/provider/tag-checks.ts';

/** A warning has all three: what, why and a way on. */
type Warning = Required<DefinitionProblem>;

/** What is allowed in a definition, and still not as good as it could be. */
export function providerWarnings(definition: ProviderDefinition): readonly Warning[] {
  const { capabilities } = definition;
  return [
    ...instanceWarnings(capabilities),
    ...balancerWarnings(definition),
    ...storageWarnings(definition),
    ...identityWarnings(definition),
  ];
}

function instanceWarnings({ instances, zones }: Capabilities): readonly Warning[] {
  if (instances === undefined) return [];
  const path = 'capabilities.instances';
  const warnings: Warning[] = [];
  const isBatched = 'describeMany' in instances;
  if (!isBatched) {
    warnings.push({
      path,
      code: 'SW2151',
      message: 'instances has no describeMany: every pass over the nodes makes one call for each',
      why: 'with a thousand nodes that is a thousand calls every few minutes, and clouds throttle',
      hint: 'add describeMany(refs, call), which answers for many nodes with as few requests as the cloud allows',
    });
  }
  if (!isBatched && instances.declare().maxBatch !== undefined) {
    warnings.push({
      path: `${path}.declare().maxBatch`,
      code: 'SW2160',
      message: 'instances declares maxBatch, and has no describeMany that it could limit',
      why: 'a fact that nothing uses says something that is not so',
      hint: 'add describeMany, or leave maxBatch out',
    });
  }
  if (zones === undefined) {
    warnings.push({
      path,
      code: 'SW2152',
      message: 'there are instances, and no capability zones',
      why: 'nobody can tell which zones there are, so machines and volumes cannot be spread over them',
      hint: 'add zones, with one zone when the cloud has no more',
    });
  }
  return warnings;
}

function balancerWarnings({ capabilities, ingress }: ProviderDefinition): readonly Warning[] {
  const { loadBalancers } = capabilities;
  const warnings: Warning[] = [];
  if (loadBalancers !== undefined && !loadBalancers.declare().sourceRanges) {
    warnings.push({
      path: 'capabilities.loadBalancers.declare().sourceRanges',
      code: 'SW2154',
      message: 'loadBalancers does not enforce source ranges',
      why: 'a Service with loadBalancerSourceRanges is refused: otherwise it would be open to everybody',
      hint: 'let only sourceRanges of the plan connect, and declare sourceRanges: true',
    });
  }
  if (loadBalancers === undefined && ingress?.strategy === 'LoadBalancerService') {
    warnings.push({
      path: 'ingress.strategy',
      code: 'SW2159',
      message: "ingress.strategy is 'LoadBalancerService', and there is no capability loadBalancers",
      why: 'the router waits for a load balancer that nobody makes',
      hint: "add loadBalancers, or write strategy: 'HostNetwork'",
    });
  }
  return warnings;
}

function storageWarnings({ capabilities, storage }: ProviderDefinition): readonly Warning[] {
  const { volumes } = capabilities;
  if (volumes === undefined) {
    if (storage === undefined) return [];
    return [
      {
        path: 'storage',
        code: 'SW2158',
        message: 'storage names a default class, and there is no capability volumes',
        why: 'claims of that class wait for a volume that nobody makes',
        hint: 'add volumes, or leave storage out',
      },
    ];
  }
  if ('attach' in volumes) return [];
  return [
    {
      path: 'capabilities.volumes',
      code: 'SW2157',
      message: 'volumes has no attach and detach',
      why: 'pods can only use volumes that their node can get',
      hint: 'add attach and detach, unless the volumes are reached over the network',
    },
  ];
}

function identityWarnings({ capabilities, providerID, tags }: ProviderDefinition): readonly Warning[] {
  const warnings: Warning[] = [];
  if (capabilities.metadata === undefined) {
    warnings.push({
      path: 'capabilities',
      code: 'SW2153',
      message: 'there is no capability metadata',
      why: 'a machine cannot find out who it is, so its kubelet starts without a provider ID',
      hint: 'add metadata with paths.instanceId, if the cloud has such a service',
    });
  }
  if (providerID.example === undefined) {
    warnings.push({
      path: 'providerID',
      code: 'SW2155',
      message: 'providerID has no example',
      why: 'nothing shows that the pattern matches what the cloud gives, and it can never change for a live cluster',
      hint: 'add the provider ID of a real machine',
    });
  }
  const length = longestClusterKey(tags)?.length ?? 0;
  if (tags.maxKey !== undefined && tags.maxKey < length) {
    warnings.push({
      path: 'tags.maxKey',
      code: 'SW2156',
      message: `tags.maxKey is ${tags.maxKey}, and the key of the cluster tag may have ${length} characters`,
      why: 'ids of clusters have up to 27 characters; with a long one nothing could be tagged',
      hint: 'give a shorter tags.clusterKey, such as (id) => `c/${id}`',
    });
  }
  return warnings;
}
