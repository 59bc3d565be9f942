// Until the types are generated.
export interface Artifact {
  id: string;
  title: string;
  content_type: string;
  version: number;
  created_at: number;
  updated_at: number;
}
export interface ArtifactVersion {
  version: number;
  update_type: string;
  turn_id: string | null;
  created_at: number;
}
