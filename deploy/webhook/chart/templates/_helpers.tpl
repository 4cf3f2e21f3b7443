{{- define "name" -}}
{{ .Values.serviceName }}
{{- end }}

{{- /* The owner of the webhook configurations, by which releases are told apart. */ -}}
{{- define "cluster-role" -}}
{{ include "name" . }}:{{ .Release.Namespace }}
{{- end }}

{{- define "selector" -}}
app.kubernetes.io/name: celador-webhook
app.kubernetes.io/instance: {{ include "name" . }}
{{- end }}

{{- define "labels" -}}
{{ include "selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | replace "+" "_" }}
{{- end }}

{{- define "image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default (.Chart.AppVersion | replace "+" "_") }}
{{- end }}

{{- /* The container of the Deployment and of the Job: everything but its arguments, ports and probes. */ -}}
{{- define "container" -}}
name: celador-webhook
image: {{ include "image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
env:
- name: POD_NAMESPACE
  valueFrom:
    fieldRef: {fieldPath: metadata.namespace}
# Without it, the heap may grow to twice what is in use before it is collected.
- name: GOMEMLIMIT
  valueFrom:
    resourceFieldRef: {resource: limits.memory}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- /* What both Pods have in common. */ -}}
{{- define "pod" -}}
serviceAccountName: {{ include "name" . }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext: {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 0 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 0 }}
{{- end }}
{{- end }}
