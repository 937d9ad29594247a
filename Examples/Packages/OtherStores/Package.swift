// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "OtherStores",
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [.library(name: "OtherStores", targets: ["OtherStores"])],
    dependencies: [
        .package(name: "coral", path: "../../.."),
        // The server for the tests of `ServiceStore`.
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.26.0"),
    ],
    targets: [
        .target(name: "OtherStores", dependencies: [.product(name: "CoreData", package: "coral")]),
        .testTarget(
            name: "OtherStoresTests",
            dependencies: ["OtherStores", .product(name: "FlyingFox", package: "FlyingFox")]),
    ]
)
