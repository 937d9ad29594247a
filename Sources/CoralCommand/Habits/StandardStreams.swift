import Coral

/// Standard output, buffered. What a command shows goes through here.
enum StandardOutput {
    static func write(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }

    /// Standard output as a sink of bytes, for documents.
    static var sink: any ByteSink { FileDescriptorSink(descriptor: 1, name: "standard output") }
}

/// Standard error: messages, warnings, progress.
enum StandardError {
    static func write(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }

    static func warn(_ sentence: String) {
        write("\(TextStyle.yellow.text("coral: warning:", on: .error)) \(sentence)\n")
    }
}
