// The images of a process, which Foundation declares on Apple's platforms. xctest-dynamic-overlay looks for that of SwiftUI wherever
// a module named os can be imported. They are emitted into the module that calls them, which need not link this one.

/// The number of images: none are listed.
@_alwaysEmitIntoClient
public func _dyld_image_count() -> UInt32 { 0 }

/// The path of an image: always nil.
@_alwaysEmitIntoClient
public func _dyld_get_image_name(_ index: UInt32) -> UnsafePointer<CChar>? { nil }

/// The beginning of an image: always nil.
@_alwaysEmitIntoClient
public func _dyld_get_image_header(_ index: UInt32) -> UnsafeRawPointer? { nil }
