module celador.io/celador/test/e2e/kind

go 1.26.0

require (
	github.com/evanphx/json-patch/v5 v5.9.11
	go.yaml.in/yaml/v3 v3.0.4
	sigs.k8s.io/kind v0.33.0
	sigs.k8s.io/yaml v1.6.0
)

require (
	github.com/pkg/errors v0.9.1 // indirect
	go.yaml.in/yaml/v2 v2.4.2 // indirect
)
