// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "Bookshelf",
    platforms: [.macOS(.v12), .iOS(.v15)],
    products: [.library(name: "Bookshelf", targets: ["Bookshelf"])],
    dependencies: [
        .package(name: "coral", path: "../../..")
    ],
    targets: [
        .target(
            name: "Bookshelf",
            dependencies: [
                .product(name: "CoreData", package: "coral"), .product(name: "Coral", package: "coral"),
            ],
            plugins: [.plugin(name: "CoralModelPlugin", package: "coral")]),
        .testTarget(name: "BookshelfTests", dependencies: ["Bookshelf"]),
    ]
)
