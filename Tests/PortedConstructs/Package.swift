// swift-tools-version: 6.1
import PackageDescription

// The constructs that do not compile outside Apple's platforms, as apps write them. `Scripts/check-porting` compares the lines
// that coral-port lists with those that the compiler refuses, before and after the rewriting.
let package = Package(
    name: "PortedConstructs",
    dependencies: [.package(name: "coral", path: "../..")],
    targets: [
        .target(
            name: "Constructs",
            dependencies: ["Queries", .product(name: "CoreData", package: "coral")],
            plugins: [.plugin(name: "CoralModelPlugin", package: "coral")]),
        .target(name: "Modules"),
        .target(name: "Queries"),
    ],
    swiftLanguageModes: [.v5]
)
