module gcw

go 1.22

require github.com/lemonberrylabs/gcw-emulator v0.3.0

require gopkg.in/yaml.v3 v3.0.1 // indirect

replace github.com/lemonberrylabs/gcw-emulator => ./third_party/gcw-emulator
