// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "OtherStores",
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [.library(name: "JSONStores", targets: ["JSONStores"])],
    dependencies: [
        .package(name: "coral", path: "../../.."),
        // The server that `ServiceStore` is shown and tested with.
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.26.0"),
    ],
    targets: [
        // The two stores.
        .target(name: "JSONStores", dependencies: [.product(name: "CoreData", package: "coral")]),
        // What they are shown and tested with: a model, documents, and a service.
        .target(
            name: "ExampleLibrary",
            dependencies: [
                .product(name: "CoreData", package: "coral"), .product(name: "FlyingFox", package: "FlyingFox"),
            ]),
        // The program whose output is in `expected.txt`.
        .executableTarget(name: "OtherStores", dependencies: ["JSONStores", "ExampleLibrary"]),
        .testTarget(name: "JSONStoresTests", dependencies: ["JSONStores", "ExampleLibrary"]),
    ]
)
