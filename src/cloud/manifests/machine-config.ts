import type { KubeObject } from '../../api/object.ts';
import { printYaml } from '../../object/yaml.ts';

/** The two kinds of machines of a cluster (O13). */
export const MACHINE_ROLES = ['master', 'worker'] as const;
export type MachineRole = (typeof MACHINE_ROLES)[number];

const SCRIPT = '/usr/local/bin/kubelet-providerid';
const UNIT = 'kubelet-providerid.service';
const IGNITION_VERSION = '3.2.0';
/** The newest of Butane's versions that makes Ignition 3.2.0, which every release of OpenShift reads. */
const BUTANE_VERSION = '4.13.0';
const MODE = 0o755;

/** Before the kubelet and before what MCO's own units of this sort precede, once the network is up (O14, O15). */
const UNIT_TEXT = `[Unit]
Description=Give the kubelet the provider ID of this machine
Wants=NetworkManager-wait-online.service
After=NetworkManager-wait-online.service
Before=kubelet-dependencies.target kubelet.service

[Service]
Type=oneshot
ExecStart=${SCRIPT}

[Install]
WantedBy=network-online.target
`;

/** The name of the file with the MachineConfig, without its ending: the installer takes it as it is (O14). */
export const machineConfigFile = (role: MachineRole): string =>
  `99_openshift-machineconfig_00-${role}-kubelet-providerid`;

const metadataOf = (role: MachineRole) => ({
  name: `00-${role}-kubelet-providerid`,
  labels: { 'machineconfiguration.openshift.io/role': role },
});

/** What every machine of the role gets at its first boot; for the installer, and for clusters that run (O13). */
export function machineConfig(role: MachineRole, script: string): KubeObject {
  const source = `data:text/plain;charset=utf-8;base64,${Buffer.from(script).toString('base64')}`;
  return {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfig',
    metadata: metadataOf(role),
    spec: {
      config: {
        ignition: { version: IGNITION_VERSION },
        storage: { files: [{ path: SCRIPT, mode: MODE, overwrite: true, contents: { source } }] },
        systemd: { units: [{ name: UNIT, enabled: true, contents: UNIT_TEXT }] },
      },
    },
  } as KubeObject;
}

/** The same as a person would write it, for review and for projects that keep Butane files. */
export const butane = (role: MachineRole, script: string): string =>
  printYaml({
    variant: 'openshift',
    version: BUTANE_VERSION,
    metadata: metadataOf(role),
    storage: { files: [{ path: SCRIPT, mode: MODE, overwrite: true, contents: { inline: script } }] },
    systemd: { units: [{ name: UNIT, enabled: true, contents: UNIT_TEXT }] },
  });
