import type { KubeObject } from '../../api/object.ts';
import type { Need } from '../../kube/rbac/need.ts';
import type { OperatorMode, OperatorNames } from '../names.ts';
import type { ScopedRules } from '../registry/operator-rules.ts';

/** Everything that decides what installs the operator. */
export interface Installation {
  readonly mode: OperatorMode;
  readonly names: OperatorNames;
  /** Of the operator itself. */
  readonly image: string;
  /** `images.json`, by key. */
  readonly images: Readonly<Record<string, string>>;
  /** `--provider`: an id, or where the image has the definition. Absent: the platforms that are built in. */
  readonly provider?: string;
  /** What its two programs ask of the API server. */
  readonly needs: readonly Need[];
  /** What they must hold because operands grant it (R92). */
  readonly held: readonly ScopedRules[];
  /** CredentialsRequests. */
  readonly credentials: readonly KubeObject[];
  /** Accounts and roles of the programs that the operator deploys. */
  readonly operandAccess: readonly KubeObject[];
  /** Whether operands are those of platforms: that of OpenStack has an account elsewhere, too. */
  readonly isForPlatforms: boolean;
  /** The ImageStream of image-references. */
  readonly imageReferences: KubeObject;
  readonly releaseVersion: string;
}

/** One file of the installation, in the order of its name (R91). */
export interface ManifestFile {
  readonly name: string;
  readonly objects: readonly KubeObject[];
  /** Of kinds that a cluster has only with its monitoring: whoever applies it elsewhere leaves it out. */
  readonly needsMonitoring?: boolean;
}

/** Of the account of the operator's pod, and of its roles. */
export const OPERATOR_ACCOUNT = 'cluster-cloud-controller-manager';

/** What every manifest of a payload carries (R90). */
const PAYLOAD_ANNOTATIONS: Readonly<Record<string, string>> = {
  'capability.openshift.io/name': 'CloudControllerManager',
  'include.release.openshift.io/self-managed-high-availability': 'true',
  'include.release.openshift.io/single-node-developer': 'true',
};

/** With the annotations of R90 under its own, which win. */
export const annotated = <T extends KubeObject>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...PAYLOAD_ANNOTATIONS, ...object.metadata.annotations } },
});
