{{- define "sauti.name" -}}
{{- if contains "sauti" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-sauti" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "sauti.selector" -}}
app.kubernetes.io/name: sauti
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "sauti.labels" -}}
{{ include "sauti.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "sauti.serviceAccount" -}}
{{ default (include "sauti.name" .) .Values.serviceAccount.name }}
{{- end }}

{{- define "sauti.secret" -}}
{{ default (include "sauti.name" .) .Values.existingSecret }}
{{- end }}
