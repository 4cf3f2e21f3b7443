module celador.io/offline

go 1.26.0

godebug default=go1.26

replace celador.io/admission => ../admission

replace celador.io/api => ../api
