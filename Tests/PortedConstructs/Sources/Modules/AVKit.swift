import AVKit
